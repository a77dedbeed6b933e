"""The generators' starts, played by originals and chosen mutants: what is weak, strong, at the edge, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.environments import Rows, Space
from netmend.mutate.agents.generators import Failed, StartList, fitted, most_telling, one_after_another
from netmend.mutate.agents.judging import Judged, Shown, joined
from netmend.mutate.agents.result import REPLAY, STRONG, Covering, Revealing
from netmend.mutate.agents.study import Study
from netmend.mutate.agents.trained import Agent, playable, playing

_HALF = 0.5


def told_apart(original: Sequence[Failed], mutant: Sequence[Failed]) -> NDArray[np.float64]:
    """Per start, the share of the pairs that it tells apart."""
    apart = [~old & new for old, new in zip(original, mutant, strict=True)]
    return np.asarray(np.mean(apart, axis=0), dtype=np.float64)


def most_revealing(
    sets: Mapping[str, tuple[Rows, NDArray[np.float64]]], space: Space, count: int = 3
) -> tuple[Revealing, ...]:
    """The best starts of all generators; `sets`: name → starts and the share of pairs that each tells apart."""
    found = [
        Revealing(tuple(map(float, start)), space.words(start), float(share), name)
        for name, (starts, shares) in sets.items()
        for start, share in zip(starts, shares, strict=True)
        if share > 0
    ]
    return tuple(sorted(found, key=lambda each: -each.share)[:count])


def covering(
    shared: Mapping[str, tuple[Rows, Mapping[str, NDArray[np.float64]]]], space: Space, most: int = 8
) -> tuple[Covering, ...]:
    """A few starts that together reveal as many mutants as can be, chosen greedily.

    `shared`: generator → its starts, the same for all mutants, and per mutant the share of pairs that each tells apart.
    """
    rows: list[tuple[str, NDArray[np.float64], dict[str, float]]] = []
    for name, (starts, mutants) in shared.items():
        for index, start in enumerate(starts):
            reveals = {
                each: float(shares[index]) for each, shares in mutants.items() if shares[index] >= _HALF
            }
            if reveals:
                rows.append((name, start, reveals))
    left = {mutant for _, _, reveals in rows for mutant in reveals}
    found: list[Covering] = []
    while left and len(found) < most:
        name, start, reveals = max(rows, key=lambda row: (len(left & row[2].keys()), sum(row[2].values())))
        found.append(Covering(tuple(map(float, start)), space.words(start), name, tuple(sorted(reveals))))
        left -= reveals.keys()
    return tuple(found)


_SEED = 4_242  # of the candidates that the strong generator draws
_HALVES = 2
Played = dict[str, list[Agent]]  # operator → its mutant's agents, in the order of the seeds


def compare(state: Study) -> None:
    """First the lists that are the same for all mutants, then the strong generator's, which learns from how these were played."""
    state.say("playing the generators' starts")
    if not state.chosen:
        return
    shared = {name: starts for name, starts in state.sets.items() if len(starts.rows)}
    unknown = {name: starts.rows for name, starts in shared.items() if name not in state.common_failed}
    rows = {name: starts.rows for name, starts in shared.items()}
    mutants = _played(state, dict.fromkeys(state.chosen, rows))
    originals = _originals(state, unknown) if unknown else []
    before = state.common_failed | {name: _failed(state, originals, name) for name in unknown}
    for code, agents in mutants.items():
        state.shown[code] = {
            name: Shown(starts, before[name], _failed(state, agents, name)) for name, starts in shared.items()
        }
    strong = {code: _strong(state, judged, mutants[code]) for code, judged in state.chosen.items()}
    mutants = _played(state, {code: {STRONG: starts.rows} for code, starts in strong.items()})
    originals = _originals(state, {f"{STRONG} {code}": starts.rows for code, starts in strong.items()})
    for code, starts in strong.items():
        old = _failed(state, originals, f"{STRONG} {code}")
        state.shown[code][STRONG] = Shown(starts, old, _failed(state, mutants[code], STRONG))


def _failed(state: Study, agents: Sequence[Agent], name: str) -> list[Failed]:
    return [state.criterion.failed(each.episodes[name]) for each in agents]


def _strong(state: Study, judged: Judged, played: list[Agent]) -> StartList:
    """Two lists: each learned from one half of the pairs, to be judged with the other half."""
    half_of = [pair % _HALVES for pair in range(len(state.seeds))]
    lists = []
    for half in range(_HALVES):
        others = [pair for pair, its in enumerate(half_of) if its != half]
        lists.append(_learned(state, judged, played, others, half))
    return one_after_another(lists, half_of)


def _learned(state: Study, judged: Judged, played: list[Agent], pairs: list[int], half: int) -> Rows:
    """Starts by what was seen of these agents of the mutant, and of the program as it is."""
    seen = [judged.agents[pair].episodes[REPLAY] for pair in pairs]
    seen += [episodes for pair in pairs for episodes in played[pair].episodes.values()]
    mutant = fitted(*joined(seen, state.criterion))
    known = [state.originals[pair].episodes[name] for pair in pairs for name in (REPLAY, "random", "wide")]
    original = fitted(*joined(known, state.criterion))
    random = np.random.default_rng([_SEED, int(judged.ladder.operator[1:]), half])
    pool = state.originals[0].candidates
    return most_telling(state.space, mutant, original, state.plan.strong, state.plan.candidates, pool, random)


def _played(state: Study, sets: dict[str, dict[str, Rows]]) -> Played:
    """Each chosen mutant's agents, at its own starts."""
    trials = [
        playing(state.target, state.chosen[code].texts, seed, agent, rows)
        for code, rows in sets.items()
        for seed, agent in zip(state.seeds, state.chosen[code].agents, strict=True)
    ]
    agents, count = playable(state.run(trials)), len(state.seeds)
    return {code: agents[place * count : (place + 1) * count] for place, code in enumerate(sets)}


def _originals(state: Study, sets: dict[str, Rows]) -> list[Agent]:
    pairs = zip(state.seeds, state.originals, strict=True)
    return playable(state.run([playing(state.target, (), seed, agent, sets) for seed, agent in pairs]))
