"""From a study in progress, or done, to what is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netmend.mutate.counts import successes_verdict
from netmend.mutate.mutation import changed_lines, relative_lines
from netmend.rl.judging import Judged, pairs_of
from netmend.rl.ladders import Ladder
from netmend.rl.result import EDGE, REPLAY, STRONG, WEAK, Covering, OperatorResult, RlStudy
from netmend.rl.revealing import covering, most_revealing, told_apart

if TYPE_CHECKING:
    from netmend.rl.study import Study


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
    tried = tuple(each.tried(state.replay_failed, state.criterion) for each in judged)
    title = ladder.title.partition(", ")[0]
    chosen = state.chosen.get(code)
    if chosen is None:
        return OperatorResult(code, ladder.published, title, tried)
    verdicts = {REPLAY: chosen.verdict} | {
        name: successes_verdict(pairs_of(old, new))
        for name, (_, old, new) in state.shown.get(code, {}).items()
    }
    rated = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
    apart = {
        name: (rows, told_apart(old, new)) for name, (rows, old, new) in state.shown.get(code, {}).items()
    }
    return OperatorResult(
        code,
        ladder.published,
        title,
        tried,
        chosen.tried(state.replay_failed, state.criterion),
        _lines(chosen, state.target.directory),
        {name: verdict.rate for name, verdict in rated.items()},
        {name: verdict.killed for name, verdict in rated.items()},
        most_revealing(apart, state.space),
    )


def _lines(judged: Judged, directory: str) -> tuple[tuple[str, int], ...]:
    return tuple(relative_lines(changed_lines(judged.mutation.edits), str(Path(directory))))


def _covering(state: Study) -> tuple[Covering, ...]:
    if not state.shown:
        return ()
    shared = {
        name: (
            rows,
            {
                state.chosen[code].mutation.title: told_apart(*found[name][1:])
                for code, found in state.shown.items()
                if name in found
            },
        )
        for name, rows in state.sets.items()
        if len(rows)
    }
    return covering(shared, state.space)
