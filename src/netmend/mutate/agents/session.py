"""A whole study of a reinforcement-learning program: from a script or a YAML to what was found."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from netmend.changes.case import Case
from netmend.errors import UsageError
from netmend.mutate.agents.comparison import compare
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.places import training
from netmend.mutate.agents.result import RlStudy
from netmend.mutate.agents.settings import read_settings, script_of
from netmend.mutate.agents.study import Study
from netmend.mutate.agents.summary import estimate, summary
from netmend.mutate.mutation import OPERATORS
from netmend.program.text.sources import Sources
from netmend.trials.opening import Stages, runner_of
from netmend.trials.opening import target_of as of_script
from netmend.trials.runner import Executor, Used
from netmend.trials.trial import Outcome, Target
from netmend.vocabulary import Trace

__all__ = ["INTERRUPTED", "ladders_of", "options_of", "study", "target_of"]

INTERRUPTED = "interrupted; run the same command to continue"
_SLOWER = 8.0  # times as long as the program as it is: then a mutant is given up

# What is being done, what it has cost so far, the trial that just ended (None: a new stage).
Told = Callable[[str, Used, Outcome | None], None]


def target_of(script: str, arguments: tuple[str, ...] = (), directory: Path | None = None) -> Target:
    """The program to study. A YAML becomes an ordinary script in the work folder, so that there is one way to mutate."""
    path = Path(script)
    if path.suffix not in (".yaml", ".yml"):
        return of_script(script, arguments, False)
    if not path.is_file():
        raise UsageError(
            f"there is no file {script}; give a script that trains, or a YAML with algorithm, environment and steps"
        )
    text = script_of(read_settings(path))
    folder = (directory or Path.cwd() / ".netmend") / "rl" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "train.py"
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return Target("train.py", arguments, False, str(folder.resolve()))


def options_of(script: str, options: RlOptions) -> RlOptions:
    """With what a YAML says about failing and generators, where the command line says nothing."""
    path = Path(script)
    if path.suffix not in (".yaml", ".yml"):
        return options
    settings = read_settings(path)
    return replace(
        options, fails=options.fails or settings.fails, generators=options.generators or settings.generators
    )


def study(
    target: Target, options: RlOptions, told: Told | None = None, executor: Executor | None = None
) -> RlStudy:
    """Nothing of the user's is changed. An interruption (Ctrl-C) ends the search; what is known until then is returned."""
    _need_packages()
    options = options.checked()
    ladders = ladders_of(target, options.operators)
    stages = Stages(lambda doing, outcome: told(doing, runner.used, outcome) if told else None, "starting")
    runner = runner_of(target, options, stages.ended, executor)
    state = Study(runner, options, stages.begin)
    stopped = ""
    expected = None
    try:
        state.train_originals()
        expected = estimate(state, ladders, runner.executor.jobs)
        if options.estimate_only:
            stopped = "only the estimate was asked for"
        else:
            if options.seconds is None:
                longest = max(each.outcome.seconds for each in state.originals)
                runner.limits = replace(runner.limits, seconds=_SLOWER * longest + 60)
            stages.begin(f"searching: {expected.words}")
            state.search(ladders)
            state.choose()
            compare(state)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
        if not state.originals:
            raise
    finally:
        runner.close()
    return replace(summary(state, ladders), stopped=stopped, estimate=expected)


def ladders_of(target: Target, wanted: tuple[str, ...] = ()) -> list[Ladder]:
    """What can be mutated in the program; an error where it makes no agent, or none of the wanted operators applies."""
    if target.is_module:
        raise UsageError("give the path of the script: modules started with -m cannot be mutated here")
    case = Case(Trace(), Sources(target.directory, target.script), arguments=target.arguments)
    if training(case) is None:
        raise UsageError(
            f"{target.script} makes no agent of Stable-Baselines3 that could be told for sure (PPO, DQN, SAC …); "
            "write the algorithm's name where the model is made, or describe the training in a YAML"
        )
    operators = [each for each in OPERATORS.all() if isinstance(each, RlOperator)]
    for name in wanted:
        if not any(_is_meant(each, name) for each in operators):
            known = sorted(name for each in operators for name in (each.code, *each.published[:1]))
            raise UsageError(f"there is no operator {name} for agents; known are {', '.join(known)}")
    chosen = [each for each in operators if not wanted or any(_is_meant(each, name) for name in wanted)]
    found = [ladder for each in chosen for ladder in each.ladders(case)]
    if not found:
        raise UsageError(f"none of the operators applies to {target.script}; docs/rl.md says what they need")
    return found


def _is_meant(operator: RlOperator, name: str) -> bool:
    """By its code, the beginning of one, or the name it was published under."""
    upper = name.upper()
    return (upper.startswith("M") and operator.code.startswith(upper)) or upper in operator.published


def _need_packages() -> None:
    for name in ("stable_baselines3", "gymnasium"):
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"{name} is not installed here; pip install netmend[rl]")
