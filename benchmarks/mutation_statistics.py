"""Do the verdicts of mutation testing keep their level, have the power they claim, and save runs? A simulation with known answers.

    python benchmarks/mutation_statistics.py            # writes benchmarks/results/mutation-statistics.json, about ten minutes
    python benchmarks/mutation_statistics.py --quick    # a tenth of the repetitions, prints only

Scores of runs are drawn from distributions such as accuracies have: fine and coarse, skewed, with trainings that collapse. Original and mutant
alike: every kill is an error. Mutant worse by a known effect: how many are killed, with how many runs? Beside it what published tools do with
10 or 20 runs always (a linear model's two-sided p < 0.05, Cohen's d >= 0.5).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr

from bench.machine import machine, today
from netmend.mutate.additions import Pool, Survivor, additions
from netmend.mutate.comparison import groups_power, paired_power
from netmend.mutate.interim_analyses import KILLED, MORE, Looks
from netmend.mutate.verdicts import scores_verdict

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "mutation-statistics.json"
MOST = 20  # runs drawn for each repetition
EFFECTS = (0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0)

Random = np.random.Generator
Runs = np.ndarray
Draw = Callable[[Random], tuple[Runs, Runs]]  # scores of original and mutant, higher being better


def alike(one: Callable[[Random], Runs]) -> Draw:
    return lambda random: (one(random), one(random))


def accuracy(inputs: int, chance: float) -> Draw:
    return alike(lambda random: random.binomial(inputs, chance, MOST) / inputs)


def seeds_matter(inputs: int, chance: float) -> Draw:
    """Both runs of a seed are equally lucky: the log-odds of being right vary from seed to seed."""

    def draw(random: Random) -> tuple[Runs, Runs]:
        odds = math.log(chance / (1 - chance)) + random.normal(0, 1, MOST)
        chances = 1 / (1 + np.exp(-odds))
        return random.binomial(inputs, chances) / inputs, random.binomial(inputs, chances) / inputs

    return draw


def collapsing(share: float) -> Draw:
    return alike(
        lambda random: np.where(random.random(MOST) < share, 0.1, 0.95) + 0.01 * random.normal(size=MOST)
    )


ALIKE: dict[str, Draw] = {
    "normal": alike(lambda random: random.normal(size=MOST)),
    "log-normal errors": alike(lambda random: -np.exp(random.normal(size=MOST))),
    "heavy tails (t, 2 degrees)": alike(lambda random: random.standard_t(2, MOST)),
    "near the best (beta 20, 1)": alike(lambda random: random.beta(20, 1, MOST)),
    "5 inputs, 50 % right": accuracy(5, 0.5),
    "5 inputs, 80 % right": accuracy(5, 0.8),
    "20 inputs, 80 % right": accuracy(20, 0.8),
    "20 inputs, 95 % right": accuracy(20, 0.95),
    "50 inputs, 99 % right": accuracy(50, 0.99),
    "200 inputs, 95 % right": accuracy(200, 0.95),
    "50 inputs, 90 % right, seeds matter": seeds_matter(50, 0.9),
    "10 % of the trainings collapse": collapsing(0.1),
    "30 % of the trainings collapse": collapsing(0.3),
    "50 % of the trainings collapse": collapsing(0.5),
}


def worse(effect: float, together: float) -> Draw:
    """`together`: correlation of the two runs of a seed."""

    def draw(random: Random) -> tuple[Runs, Runs]:
        common = math.sqrt(together) * random.normal(size=MOST)
        own = math.sqrt(1 - together)
        return common + own * random.normal(size=MOST), common + own * random.normal(size=MOST) - effect

    return draw


def fixed(runs: int, paired: bool = True) -> Callable[[Runs, Runs], tuple[bool, int]]:
    def judge(original: Runs, mutant: Runs) -> tuple[bool, int]:
        verdict = scores_verdict(original[:runs], mutant[:runs], higher_is_better=True, paired=paired)
        return verdict.killed, runs

    return judge


def published(runs: int) -> Callable[[Runs, Runs], tuple[bool, int]]:
    """A linear model on the group, two-sided p < 0.05 (with the number itself), and d >= 0.5."""

    def judge(original: Runs, mutant: Runs) -> tuple[bool, int]:
        old, new = original[:runs], mutant[:runs]
        pooled = math.sqrt((old.var(ddof=1) + new.var(ddof=1)) / 2)
        if pooled == 0:
            return bool(old[0] > new[0]), runs
        effect = float(old.mean() - new.mean()) / pooled
        p_value = 2 * float(stdtr(2 * runs - 2, -abs(effect) * math.sqrt(runs / 2)))
        return p_value < 0.05 and effect >= 0.5, runs

    return judge


def looking(looks: Looks) -> Callable[[Runs, Runs], tuple[bool, int]]:
    def judge(original: Runs, mutant: Runs) -> tuple[bool, int]:
        for pairs in looks.pairs:
            decided = looks.decide(original[:pairs], mutant[:pairs], higher_is_better=True)
            if decided != MORE:
                return decided == KILLED, pairs
        raise AssertionError("the last look decides")

    return judge


WAYS = {
    "looks at 3, 5, 8, 10": looking(Looks()),
    "the same, never given up early": looking(Looks(futility=0.0)),
    "looks at 3, 5, 8, 12, 20": looking(Looks((3, 5, 8, 12, 20))),
    "10 pairs": fixed(10),
    "20 pairs": fixed(20),
    "published, 10 runs": published(10),
    "published, 20 runs": published(20),
}


def tried(
    judge: Callable[[Runs, Runs], tuple[bool, int]], draw: Draw, times: int, seed: int
) -> tuple[float, float]:
    """The share killed, and the mean number of pairs."""
    random = np.random.default_rng(seed)
    outcomes = [judge(*draw(random)) for _ in range(times)]
    return float(np.mean([dead for dead, _ in outcomes])), float(np.mean([runs for _, runs in outcomes]))


def level_of_one_test(times: int) -> dict[str, Any]:
    """By scores, test and number of runs: the share killed, which should be at most 0.05."""
    found: dict[str, Any] = {}
    for name, draw in ALIKE.items():
        found[name] = {
            test: {
                str(runs): round(tried(fixed(runs, test == "paired"), draw, times, runs)[0], 4)
                for runs in (3, 5, 8, 10, 20)
            }
            for test in ("paired", "groups")
        }
    return found


def level_over_looks(times: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, draw in ALIKE.items():
        found[name] = {}
        for way, judge in WAYS.items():
            share, runs = tried(judge, draw, times, 100)
            found[name][way] = {"killed": round(share, 4), "pairs": round(runs, 2)}
    return found


def power_and_cost(times: int) -> list[dict[str, Any]]:
    rows = []
    for together in (0.0, 0.5, 0.8):
        for effect in EFFECTS:
            for way, judge in WAYS.items():
                share, runs = tried(judge, worse(effect, together), times, 200)
                rows.append(
                    {
                        "effect": effect,
                        "correlation": together,
                        "way": way,
                        "killed": round(share, 4),
                        "pairs": round(runs, 2),
                    }
                )
    return rows


def power_as_computed(times: int) -> list[dict[str, Any]]:
    """The formula beside the share of drawn comparisons with p <= 0.05; the least effect is not asked for here."""
    rows = []
    for runs in (3, 5, 10):
        for effect in (0.8, 1.5, 3.0):
            for paired in (True, False):
                together = 0.5 if paired else 0.0
                random = np.random.default_rng(300)
                draw = worse(effect, together)
                found = 0
                for _ in range(times):
                    original, mutant = draw(random)
                    verdict = scores_verdict(
                        original[:runs], mutant[:runs], higher_is_better=True, paired=paired
                    )
                    found += verdict.p_value <= 0.05
                spread = math.sqrt(2 * (1 - together))
                computed = paired_power(effect / spread, runs) if paired else groups_power(effect, runs, runs)
                rows.append(
                    {
                        "runs": runs,
                        "effect": effect,
                        "test": "paired" if paired else "groups",
                        "computed": round(computed, 4),
                        "drawn": round(found / times, 4),
                    }
                )
    return rows


def pairs_or_groups(times: int) -> list[dict[str, Any]]:
    """From which correlation of seeds on are pairs worth it?"""
    rows = []
    for runs in (3, 5, 10):
        for together in (0.0, 0.2, 0.4, 0.6, 0.8):
            draw = worse(1.5, together)
            row: dict[str, Any] = {"runs": runs, "effect": 1.5, "correlation": together}
            for test in ("paired", "groups"):
                row[test] = round(tried(fixed(runs, test == "paired"), draw, times, 400)[0], 4)
            rows.append(row)
    return rows


def additions_by_luck(times: int) -> list[dict[str, Any]]:
    """Equivalent mutants that survived: how often is something told that would kill them?"""
    rows = []
    inputs = 1000
    for runs in (3, 5, 10):
        by_class = by_input = survivors = 0
        for seed in range(times):
            random = np.random.default_rng(seed)
            chances = np.clip(random.uniform(0.1, 1.3, inputs), 0.02, 0.98)

            def right(share: float | Runs, count: int, random: Random = random, runs: int = runs) -> Runs:
                return (random.random((runs, count)) < share).astype(float)

            original, mutant = right(0.9, 100), right(0.9, 100)
            pool_original, pool_mutant = right(chances, inputs), right(chances, inputs)
            if scores_verdict(original.mean(axis=1), mutant.mean(axis=1), higher_is_better=True).killed:
                continue
            survivors += 1
            survivor = Survivor("equivalent", original, mutant, pool_original, pool_mutant)
            pool = Pool(np.arange(inputs) % 10, np.arange(inputs))
            told = additions([survivor], pool, higher_is_better=True)
            by_class += any(each.label is not None for each in told)
            by_input += any(each.label is None for each in told)
        rows.append(
            {
                "runs": runs,
                "survivors": survivors,
                "class told": round(by_class / survivors, 4),
                "inputs told": round(by_input / survivors, 4),
            }
        )
    return rows


def saving(alike_rows: dict[str, Any], worse_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Over a third of equivalent mutants and two thirds of mutants with the effects above: kills, errors and pairs by way."""
    found: dict[str, Any] = {}
    for way in WAYS:
        own = [row for row in worse_rows if row["way"] == way]
        pairs = np.mean([row["pairs"] for row in own]) * 2 / 3
        pairs += np.mean([scores[way]["pairs"] for scores in alike_rows.values()]) / 3
        found[way] = {
            "pairs": round(float(pairs), 2),
            "killed of the worse ones": round(float(np.mean([row["killed"] for row in own])), 4),
            "most killed of equals": max(scores[way]["killed"] for scores in alike_rows.values()),
            "saved against 10": round(1 - float(pairs) / 10, 3),
            "saved against 20": round(1 - float(pairs) / 20, 3),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions; nothing is written")
    quick = parser.parse_args().quick
    times = 300 if quick else 4_000
    print("level over looks …", flush=True)
    over_looks = level_over_looks(times)
    print("power and cost …", flush=True)
    cost = power_and_cost(times // 4)
    print("single tests …", flush=True)
    data = {
        "date": today(),
        "machine": machine(1),
        "repetitions": {"level": times, "power": times // 4, "additions": times // 10},
        "standard_error_of_a_level": round(math.sqrt(0.05 * 0.95 / times), 4),
        "boundaries": {str(pairs): round(Looks().alpha_at(pairs), 5) for pairs in Looks().pairs},
        "saving": saving(over_looks, cost),
        "level_over_looks": over_looks,
        "level_of_one_test": level_of_one_test(times),
        "power_and_cost": cost,
        "power_as_computed": power_as_computed(times // 2),
        "pairs_or_groups": pairs_or_groups(times // 4),
        "additions_by_luck": additions_by_luck(times // 10),
    }
    text = json.dumps(data, indent=1) + "\n"
    if not quick:
        RESULT.write_text(text, encoding="utf-8")
    print(
        json.dumps(
            {
                key: data[key]
                for key in ("saving", "power_as_computed", "pairs_or_groups", "additions_by_luck")
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
