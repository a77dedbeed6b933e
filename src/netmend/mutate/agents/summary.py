"""From a study in progress, or done, to what is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netmend.mutate.agents.comparison import covering, most_revealing, told_apart
from netmend.mutate.agents.judging import Judged
from netmend.mutate.agents.ladders import Ladder
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
from netmend.mutate.mutation import changed_lines, relative_lines

if TYPE_CHECKING:
    from netmend.mutate.agents.study import Study


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
