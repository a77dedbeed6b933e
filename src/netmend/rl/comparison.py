"""The generators' starts, played by originals and chosen mutants: what is weak, strong, at the edge, or the user's own."""

from __future__ import annotations

import numpy as np

from netmend.errors import UsageError
from netmend.rl.environments.space import Rows
from netmend.rl.generators.edge import hardest_passed
from netmend.rl.generators.predictor import fitted
from netmend.rl.generators.strong import most_telling
from netmend.rl.generators.weak import easiest
from netmend.rl.judging import Failed, Judged, joined
from netmend.rl.result import EDGE, STRONG, WEAK
from netmend.rl.study import Study
from netmend.rl.trained import playing

_SEED = 4_242  # of the candidates that the strong generator draws


def compare(state: Study) -> None:
    """The starts of all generators, played by originals and chosen mutants."""
    state.say("playing the generators' starts")
    weak = [each.episodes["random"] for each in state.originals]
    wide = [each.episodes["wide"] for each in state.originals]
    failed_weak = [state.criterion.failed(each) for each in weak]
    failed_wide = [state.criterion.failed(each) for each in wide]
    easy, hard = (
        easiest(weak, failed_weak, state.plan.weak),
        hardest_passed(wide, failed_wide, state.plan.edge),
    )
    state.sets = {WEAK: weak[0].starts[easy], EDGE: wide[0].starts[hard]}
    state.sets |= {own.name: own.starts(state.plan.strong, 0, state.space) for own in state.owns}
    known = {WEAK: [each[easy] for each in failed_weak], EDGE: [each[hard] for each in failed_wide]}
    strong = {code: _strong(state, judged) for code, judged in state.chosen.items()}
    _play(state, strong, known)


def _strong(state: Study, judged: Judged) -> Rows:
    mutant = fitted(*joined([each.episodes["replay"] for each in judged.agents], state.criterion))
    seen = [each.episodes[name] for each in state.originals for name in ("replay", "random")]
    original = fitted(*joined(seen, state.criterion))
    random = np.random.default_rng([_SEED, int(judged.ladder.operator[1:])])
    pool = state.originals[0].candidates
    return most_telling(state.space, mutant, original, state.plan.strong, state.plan.candidates, pool, random)


def _play(state: Study, strong: dict[str, Rows], known: dict[str, list[Failed]]) -> None:
    shared = {name: rows for name, rows in state.sets.items() if len(rows)}
    extra = {name: rows for name, rows in shared.items() if name not in known}
    trials = [
        playing(
            state.target,
            (),
            seed,
            agent,
            {**{f"{STRONG} {code}": rows for code, rows in strong.items()}, **extra},
        )
        for seed, agent in zip(state.seeds, state.originals, strict=True)
    ]
    codes = [code for code in state.chosen for _ in state.seeds]
    for code, judged in state.chosen.items():
        for seed, agent in zip(state.seeds, judged.agents, strict=True):
            trials.append(playing(state.target, judged.texts, seed, agent, {**shared, STRONG: strong[code]}))
    if not state.chosen:
        return
    agents = state.run(trials)
    for agent in agents:
        if agent.problem:
            raise UsageError(f"a trained agent could not be played again: {agent.problem}")
    old, new = agents[: len(state.seeds)], agents[len(state.seeds) :]
    for place, code in enumerate(dict.fromkeys(codes)):
        own = new[place * len(state.seeds) : (place + 1) * len(state.seeds)]
        found: dict[str, tuple[Rows, list[Failed], list[Failed]]] = {}
        for name, rows in {**shared, STRONG: strong[code]}.items():
            key = f"{STRONG} {code}" if name == STRONG else name
            before = known.get(name) or [state.criterion.failed(each.episodes[key]) for each in old]
            found[name] = (rows, before, [state.criterion.failed(each.episodes[name]) for each in own])
        state.shown[code] = found
