"""What a program minimises, is about and gained, in words."""

from __future__ import annotations

from netmend.report.run.overview import advice_when_untrained, remarks
from netmend.report.run.wording import objective_words, task_words
from netmend.vocabulary import LossFact, RunFact, Table, TaskFact, Trace, WorldFact


def test_a_formula_is_named_after_the_loss_functions_in_it() -> None:
    assert objective_words(LossFact("mse_loss@a.py:3", "mse_loss")) == "mse_loss"
    assert objective_words(LossFact("objective@a.py:3", "expression")) == "own formula"
    terms = {"terms": ["cross_entropy@a.py:3", "cross_entropy@a.py:4", "kl_div@a.py:5"]}
    assert (
        objective_words(LossFact("objective@a.py:6", "expression", settings=terms))
        == "own formula + cross_entropy + kl_div"
    )


def test_an_objective_without_targets_is_no_task() -> None:
    tasks = {"a": TaskFact("a", "classification", 3), "b": TaskFact("b", "other")}
    assert task_words(Trace(facts={"task": tasks})) == "classification, 3 classes"


def test_a_program_that_acts_is_told_by_its_episodes() -> None:
    world = WorldFact("CartPole-v1@a.py:3", "CartPole-v1", steps=900, episodes=30)
    rows = {step: (float(10 + step), 20.0, 1.0, 0.0) for step in range(30)}
    trace = Trace(
        facts={"world": {world.name: world}, "task": {"v": TaskFact("v", "regression")}},
        tables={("episode", world.name): Table.of("episode", world.name, rows)},
    )
    told = {remark.label: f"{remark.text} {remark.tail}".rstrip() for remark in remarks(trace)}
    assert told["task"] == "reinforcement learning, CartPole-v1"
    assert told["return"] == "11.0 → 38.0 per episode, 30 episodes of CartPole-v1"


def test_an_interruption_before_training_is_no_error_of_the_script() -> None:
    run = RunFact("example", "a.py", status="interrupted", exception="KeyboardInterrupt: ")
    (text,) = advice_when_untrained(Trace(facts={"run": {"example": run}}))
    assert text.startswith("Interrupted before")


def test_the_share_of_a_term_is_not_told_beside_the_whole_loss() -> None:
    def told(whole: float) -> str:
        steps = {0: (2.0, 1.0), 9: (whole, 1.0)}
        rows = {0: (2.0, 4.0), 9: (0.5, 4.0)}
        tables = [Table.of("step", "opt", steps), Table.of("progress", "mse_loss", rows)]
        trace = Trace(
            facts={"run": {"a": RunFact("a", "a.py", steps=10)}},
            tables={(table.kind, table.component): table for table in tables},
        )
        return next(remark.tail for remark in remarks(trace) if remark.label == "loss")

    assert "best constant prediction" in told(0.51)
    assert told(0.9) == ""
