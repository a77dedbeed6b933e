"""A whole study of a reinforcement-learning program: from a script or a YAML to what was found."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from netmend.changes.case import Case
from netmend.errors import UsageError
from netmend.mutate.agents.comparison import compare, covering, most_revealing, told_apart
from netmend.mutate.agents.judging import Judged
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.options import RlOptions
from netmend.mutate.agents.places import training
from netmend.mutate.agents.result import (
    EDGE,
    REPLAY,
    STRONG,
    WEAK,
    Covering,
    Estimate,
    OperatorResult,
    RlStudy,
)
from netmend.mutate.agents.settings import read_settings, script_of
from netmend.mutate.agents.study import Study
from netmend.mutate.mutation import OPERATORS, changed_lines, relative_lines
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


# From a study in progress, or done, to what is told about it.


def estimate(state: Study, ladders: Sequence[Ladder], jobs: int) -> Estimate:
    """At least: of every ladder the extreme survives. At most: all looks are taken, none is decided early, and all is played."""
    runs, plan = len(state.seeds), state.plan
    first = (runs + 1) // 2
    least = sum(first for _ in ladders)
    most = sum(runs * min(plan.looks, len(ladder.steps)) for ladder in ladders)
    one = float(np.median([each.facts["train_seconds"] for each in state.originals]))
    played = plan.replay + 2 * plan.random
    start = float(np.median([each.facts["play_seconds"] for each in state.originals])) / max(1, played)
    rest = float(np.median([each.outcome.seconds for each in state.originals])) - one - start * played
    training = one + max(0.5, rest) + start * (plan.replay + plan.edge)
    operators = len({ladder.operator for ladder in ladders})
    playing = runs * (operators + 1) * (start * (plan.weak + 2 * plan.strong + plan.edge) + max(0.5, rest))
    return Estimate((least, most), (least * training / jobs, (most * training + playing) / jobs))


def summary(state: Study, ladders: Sequence[Ladder]) -> RlStudy:
    used = state.runner.used
    titles = {ladder.operator: ladder for ladder in reversed(ladders)}
    operators = tuple(_operator(state, ladders, titles[code]) for code in sorted(titles))
    return RlStudy(
        script=state.target.script,
        directory=state.target.directory,
        algorithm=str(state.facts["algorithm"]),
        environment=str(state.facts["environment"]),
        criterion=state.criterion.words,
        profile=state.options.profile,
        runs=len(state.seeds),
        original_failures=tuple(state.original_failures),
        original_returns=tuple(float(np.mean(each.episodes["random"].returns)) for each in state.originals),
        operators=operators,
        generators=(REPLAY, WEAK, STRONG, EDGE, *(own.name for own in state.owns)),
        covering=_covering(state),
        trainings=used.trials,
        cached=used.cached,
        seconds=used.seconds,
        cpu_seconds=sum(state.cpu.values()),
        problems=tuple(dict.fromkeys(state.problems)),
    )


def _operator(state: Study, ladders: Sequence[Ladder], ladder: Ladder) -> OperatorResult:
    code = ladder.operator
    places = [place for place, each in enumerate(ladders) if each.operator == code]
    judged = [each for place in places for each in state.judged.get(place, [])]
    tried = tuple(each.tried(state.known) for each in judged)
    title = ladder.title.partition(", ")[0]
    chosen = state.chosen.get(code)
    if chosen is None:
        return OperatorResult(code, ladder.published, title, tried)
    shown = state.shown.get(code, {})
    verdicts = {REPLAY: chosen.verdict_at(REPLAY, state.known)} | {
        name: each.verdict for name, each in shown.items()
    }
    apart = {name: (each.starts.rows, told_apart(each.before, each.after)) for name, each in shown.items()}
    return OperatorResult(
        code,
        ladder.published,
        title,
        tried,
        chosen.tried(state.known),
        _lines(chosen, state.target.directory),
        {name: verdict.rate for name, verdict in verdicts.items()},
        {name: verdict.killed for name, verdict in verdicts.items()},
        most_revealing(apart, state.space),
    )


def _lines(judged: Judged, directory: str) -> tuple[tuple[str, int], ...]:
    return tuple(relative_lines(changed_lines(judged.mutation.edits), str(Path(directory))))


def _covering(state: Study) -> tuple[Covering, ...]:
    if not state.shown:
        return ()
    shared = {
        name: (
            starts.rows,
            {
                state.chosen[code].mutation.title: told_apart(found[name].before, found[name].after)
                for code, found in state.shown.items()
                if name in found
            },
        )
        for name, starts in state.sets.items()
        if len(starts.rows)
    }
    return covering(shared, state.space)
