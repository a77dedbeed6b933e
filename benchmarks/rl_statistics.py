"""Are equal agents killed? A simulation of whole judgements, with trainings that come out differently although the program is the same.

    python benchmarks/rl_statistics.py            # writes benchmarks/results/rl-statistics.json, a few minutes
    python benchmarks/rl_statistics.py --quick    # a tenth of the repetitions, prints only

An agent fails at a start that is too hard for it; how much it can bear, and in which direction, is drawn anew for every training, and some
trainings come out useless. Mutants are drawn as the originals are: every kill is an error. Worse ones bear less. Beside our rule µPRL's, half of the pairs
worse by Fisher's test at starts of the training, and what becomes of it where an edge list is asked as well.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.machine import machine, today
from netmend.mutate.agents.episodes import FELL, Episodes
from netmend.mutate.agents.generators import counts, hardest_passed, weak_and_edge
from netmend.mutate.agents.options import PROFILES
from netmend.mutate.agents.pair_verdicts import Counts, decided, successes_verdict
from netmend.mutate.agents.result import EDGE

RESULT = Path(__file__).resolve().parent / "results" / "rl-statistics.json"
PLAN = PROFILES["quick"]
RULES = (
    "ours",
    "half of the pairs, starts of the training (µPRL's)",
    "half of the pairs, or at an edge list chosen without the pair",
    "half of the pairs, or at an edge list chosen with it",
)


@dataclass(frozen=True)
class World:
    """How trainings of one program differ."""

    spread: float  # of what an agent can bear; 1 is the mean
    leaning: float  # of the direction in which it bears less
    useless: float  # share of trainings that come to nothing

    @property
    def words(self) -> str:
        return f"spread {self.spread:g}, leaning {self.leaning:g}, useless {self.useless:.0%}"


WORLDS = [
    World(spread, leaning, useless)
    for spread, leaning in ((0.0, 0.1), (0.1, 0.1), (0.3, 0.3), (0.0, 0.6))
    for useless in (0.0, 0.2, 0.5)
]


@dataclass(frozen=True)
class Simulated:
    """One agent."""

    bears: float
    leans: np.ndarray

    def played(self, starts: np.ndarray) -> Episodes:
        hardness = np.linalg.norm(starts, axis=1) + starts @ self.leans
        failed, zero = hardness > self.bears, np.zeros(len(starts))
        length = np.where(failed, 50.0, 500.0)
        quality = np.clip(self.bears - hardness, 0, None)
        return Episodes(starts, starts, length, length, failed, quality, quality, zero)


def trained(world: World, worse: float, random: np.random.Generator) -> Simulated:
    useless = random.random() < world.useless
    bears = -9.0 if useless else 1.0 - worse + world.spread * random.normal()
    return Simulated(bears, world.leaning * random.normal(size=4))


def judged(world: World, worse: float, random: np.random.Generator) -> dict[str, bool]:
    """By rule: is the mutant called killable?"""
    near, wide = random.uniform(-0.55, 0.55, (PLAN.random, 4)), random.uniform(-1, 1, (PLAN.random, 4))
    originals = [trained(world, 0.0, random) for _ in range(PLAN.runs)]
    mutants = [trained(world, worse, random) for _ in range(PLAN.runs)]
    replays = [random.uniform(-0.55, 0.55, (PLAN.replay, 4)) for _ in originals]
    replayed = [
        (counts(old.played(starts).terminated), counts(new.played(starts).terminated))
        for old, new, starts in zip(originals, mutants, replays, strict=True)
    ]
    far = [each.played(wide) for each in originals]
    lists, failed = weak_and_edge([each.played(near) for each in originals], far, FELL, PLAN)
    edge = lists[EDGE]
    without = [
        (edge.counts(pair, failed[EDGE][pair]), counts(new.played(edge.rows_of(pair)).terminated))
        for pair, new in enumerate(mutants)
    ]
    chosen = hardest_passed(far, [each.terminated for each in far], PLAN.edge)
    with_it = [
        (counts(old.terminated[chosen]), counts(new.played(wide[chosen]).terminated))
        for old, new in zip(far, mutants, strict=True)
    ]
    either = {RULES[1]: (replayed,), RULES[2]: (replayed, without), RULES[3]: (replayed, with_it)}
    found = {rule: any(successes_verdict(pairs).killed for pairs in both) for rule, both in either.items()}
    together = [
        tuple(_sum(one, other) for one, other in zip(*both, strict=True))
        for both in zip(replayed, without, strict=True)
    ]
    return {RULES[0]: _killed(together), **found}


def _sum(one: Counts, other: Counts) -> Counts:
    return Counts(one.successes + other.successes, one.failures + other.failures)


def _killed(pairs: list[Any]) -> bool:
    """As a search looks: after three pairs, four, five."""
    for known in range((PLAN.runs + 1) // 2, PLAN.runs + 1):
        verdict = decided(pairs[:known], PLAN.runs)
        if verdict is not None:
            return verdict.killed
    raise AssertionError("all pairs decide")


def shares(world: World, worse: float, times: int) -> dict[str, float]:
    random = np.random.default_rng(7)
    found = [judged(world, worse, random) for _ in range(times)]
    return {rule: round(float(np.mean([each[rule] for each in found])), 4) for rule in RULES}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions; nothing is written")
    quick = parser.parse_args().quick
    times = 200 if quick else 2_000
    data: dict[str, Any] = {
        "date": today(),
        "machine": machine(1),
        "repetitions": times,
        "equal": {},
        "worse": {},
    }
    for world in WORLDS:
        data["equal"][world.words] = shares(world, 0.0, times)
        print(f"equal, {world.words}: {data['equal'][world.words]}", flush=True)
    for worse in (0.1, 0.2, 0.4):
        data["worse"][str(worse)] = shares(World(0.1, 0.1, 0.0), worse, times // 2)
        print(f"worse by {worse}: {data['worse'][str(worse)]}", flush=True)
    data["most_killed_of_equals"] = {rule: max(row[rule] for row in data["equal"].values()) for rule in RULES}
    print(f"most killed of equals: {data['most_killed_of_equals']}")
    if not quick:
        RESULT.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
