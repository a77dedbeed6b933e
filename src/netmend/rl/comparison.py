"""The generators' starts, played by originals and chosen mutants: what is weak, strong, at the edge, or the user's own."""

from __future__ import annotations

import numpy as np

from netmend.rl.environments.space import Rows
from netmend.rl.generators.predictor import fitted
from netmend.rl.generators.strong import most_telling
from netmend.rl.judging import Judged, joined
from netmend.rl.result import REPLAY, STRONG
from netmend.rl.study import Study
from netmend.rl.trained import Agent, playable, playing

_SEED = 4_242  # of the candidates that the strong generator draws
Played = dict[str, list[Agent]]  # operator → its mutant's agents, in the order of the seeds


def compare(state: Study) -> None:
    """First the lists that are the same for all mutants, then the strong generator's, which learns from how these were played."""
    state.say("playing the generators' starts")
    if not state.chosen:
        return
    shared = {name: rows for name, rows in state.sets.items() if len(rows)}
    unknown = {name: rows for name, rows in shared.items() if name not in state.common.failed}
    mutants = _played(state, dict.fromkeys(state.chosen, shared))
    originals = _originals(state, unknown) if unknown else []
    for code, agents in mutants.items():
        state.shown[code] = {}
        for name, rows in shared.items():
            before = state.common.failed.get(name) or [
                state.criterion.failed(each.episodes[name]) for each in originals
            ]
            after = [state.criterion.failed(each.episodes[name]) for each in agents]
            state.shown[code][name] = (rows, before, after)
    strong = {code: _strong(state, judged, mutants[code]) for code, judged in state.chosen.items()}
    mutants = _played(state, {code: {STRONG: rows} for code, rows in strong.items()})
    originals = _originals(state, {f"{STRONG} {code}": rows for code, rows in strong.items()})
    for code, rows in strong.items():
        before = [state.criterion.failed(each.episodes[f"{STRONG} {code}"]) for each in originals]
        after = [state.criterion.failed(each.episodes[STRONG]) for each in mutants[code]]
        state.shown[code][STRONG] = (rows, before, after)


def _strong(state: Study, judged: Judged, played: list[Agent]) -> Rows:
    """Starts by what was seen of the mutant and of the program as it is."""
    seen = [each.episodes[REPLAY] for each in judged.agents]
    seen += [episodes for agent in played for episodes in agent.episodes.values()]
    mutant = fitted(*joined(seen, state.criterion))
    known = [each.episodes[name] for each in state.originals for name in (REPLAY, "random", "wide")]
    original = fitted(*joined(known, state.criterion))
    random = np.random.default_rng([_SEED, int(judged.ladder.operator[1:])])
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
