"""A run that did not come to its planned end is judged on what it shows, never on its length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.detectors.loop_calls import StepMissing
from netmend.diagnose.detectors.optimizer_settings import RateNeverRises
from netmend.diagnose.detectors.training_length import ShortTraining, StillFalling
from netmend.diagnose.examples.curves import flat, run_with
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import times_longer
from netmend.localise import diagnose
from netmend.vocabulary import LoaderFact, Pattern, Site, Trace
from netmend.vocabulary.protocol import Call

SHORT = "HYP-EPOCH-FEW"


def ended(trace: Trace, status: str, **details: object) -> Trace:
    run = replace(trace.run, status=status, **details)  # type: ignore[arg-type]
    return replace(trace, facts={**trace.facts, "run": {run.name: run}})


def short() -> Trace:
    """Two passes over the data, falling and far from done."""
    trace = run_with([1.0 - 0.006 * step for step in range(60)])
    loader = LoaderFact("loader", samples=960, batch_size=32, phase="training")
    return replace(trace, facts={**trace.facts, "loader": {"loader": loader}})


def told(trace: Trace) -> set[str]:
    return {fault.cause for fault in diagnose(trace).faults}


def test_a_short_training_is_told_when_it_ended_as_planned() -> None:
    assert SHORT in told(short())


@pytest.mark.parametrize("status", ["interrupted", "killed", "running", "failed"])
def test_the_length_of_an_unfinished_run_is_not_judged(status: str) -> None:
    for trace in (short(), *(example.trace for example in StillFalling.FAULTY)):
        assert SHORT not in told(ended(trace, status))


def test_a_loss_that_never_moves_is_no_matter_of_time() -> None:
    assert SHORT not in told(ShortTraining.FAULTY[0].trace)  # flat at 0.9 from the first step on


def test_a_task_that_is_solved_is_no_matter_of_time() -> None:
    losses = [1.0 - 0.006 * step for step in range(60)]  # smoothed labels keep a loss high
    trace = run_with(losses, metrics=[min(1.0, 0.4 + 0.03 * step) for step in range(60)])
    loader = LoaderFact("loader", samples=960, batch_size=32, phase="training")
    assert SHORT not in told(replace(trace, facts={**trace.facts, "loader": {"loader": loader}}))


def test_a_warm_up_under_way_is_no_fault() -> None:
    from netmend.diagnose.run import examine

    trace = RateNeverRises.FAULTY[0].trace
    assert any(s.code == "D232" for s in examine(ended(trace, "finished"))[0])
    assert not any(s.code == "D232" for s in examine(ended(trace, "interrupted"))[0])


def test_an_accumulation_under_way_is_no_missing_step() -> None:
    trace = StepMissing.FAULTY[0].trace  # 40 backward passes, no step
    assert list(StepMissing().examine(ended(trace, "finished")))
    assert not list(StepMissing().examine(ended(trace, "interrupted")))
    longer = tuple(Pattern(p.calls, ((0, 99),)) for p in trace.patterns)
    assert list(StepMissing().examine(ended(replace(trace, patterns=longer), "interrupted")))


def test_what_an_interrupted_run_shows_is_told_all_the_same() -> None:
    from netmend.localise.causes.learning_rate import LearningRateHigh

    for example in LearningRateHigh.FAULTY:
        assert "HYP-LR-HIGH" in told(ended(example.trace, "interrupted"))


# -- how much longer ----------------------------------------------------------------------------------------------


def test_the_forecast_encloses_what_the_curve_does() -> None:
    exponential = objective(run_with([0.99**step for step in range(100)]))
    power = objective(run_with([(step + 1.0) ** -0.5 for step in range(200)]))
    assert exponential is not None
    assert power is not None
    low, high = times_longer(exponential, 0.5) or (0, 0)
    assert low == pytest.approx(1.69, abs=0.15)  # 69 steps more
    assert high >= low
    low, high = times_longer(power, 0.5) or (0, 0)
    assert low <= 4.0 <= 1.5 * high  # four times as long


def test_a_flat_curve_has_no_forecast() -> None:
    course = objective(run_with(flat(100)))
    assert course is not None
    assert times_longer(course, 0.5) is None


def test_the_advice_says_how_much_longer() -> None:
    (fault,) = (fault for fault in diagnose(short()).faults if fault.cause == SHORT)
    assert "doubling" not in fault.remedy
    assert "times as long" in fault.remedy
    assert "instead of 2" in fault.remedy


# -- where the number was set ---------------------------------------------------------------------------------------

SCRIPT = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=14)
args = parser.parse_args()
for epoch in range(args.epochs):
    for x, y in loader:
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [((), 3), (("--epochs", "2"), 5), (("--epochs=2",), 5), (("--lr", "1"), 3)],
)
def test_an_option_that_was_given_is_not_looked_for_in_its_default(
    tmp_path: Path, arguments: tuple[str, ...], line: int
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    trace = short()
    pattern = Pattern(
        (Call("backward", "", "", Site("train.py", 7)), Call("step", "", "", Site("train.py", 8))), ((0, 59),)
    )
    run = {"script": "train.py", "working_directory": str(tmp_path), "arguments": arguments}
    trace = ended(replace(trace, patterns=(pattern,)), "finished", **run)
    (fault,) = (fault for fault in diagnose(trace).faults if fault.cause == SHORT)
    assert fault.site is not None
    assert fault.site.line == line
    assert ("started with `--epochs" in fault.remedy) == (line == 5)


def test_a_start_that_overshoots_and_comes_back_is_no_fault_yet() -> None:
    trace = net_run(
        losses=[1.0, 3.0, 4.0, 2.0, *(0.9 - 0.003 * step for step in range(60))],
        settings={"lr": 0.05},
        ratio=lambda step: 0.25 if step < 3 else 0.01,
        growth=1.5,
    )
    loader = LoaderFact("loader", samples=60_000, batch_size=32, phase="training")
    trace = replace(trace, facts={**trace.facts, "loader": {"loader": loader}})
    assert "HYP-LR-HIGH" in told(trace)
    assert "HYP-LR-HIGH" not in told(ended(trace, "interrupted"))


def test_a_step_that_an_interrupted_run_had_not_reached_is_not_missing(tmp_path: Path) -> None:
    example = StepMissing.FAULTY[0].trace
    (name,) = {symptom.component for symptom in StepMissing().examine(example)}
    longer = tuple(Pattern(p.calls, ((0, 99),)) for p in example.patterns)
    trace = ended(
        replace(example, patterns=longer), "interrupted", script="train.py", working_directory=str(tmp_path)
    )
    for text, expected in ((f"{name}.step()\n", False), ("loss.backward()\n", True)):
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        assert ("LOOP-STEP" in told(trace)) == expected
