"""Learn the ranking of causes from the calibration mutants and write the shipped model.

    python benchmarks/learned/generate.py --set calibration      # once: records originals and mutants
    python benchmarks/learned/train.py                           # features are kept, so a second time takes a minute

Every choice (weights of the combination, the confidence from which a cause is told) is made on forests that have not seen the program they
judge. Needs scikit-learn: pip install 'netmend[learn]'.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn
from fitting import TREES, fit_combination, fit_forest, folds, known_causes, names_of, unseen_shares
from rows import Row, rows
from scoring import Answer, by_learned, figures

from netmend.diagnose.learned.combination import TERMS, Combination
from netmend.diagnose.learned.forest import Forest
from netmend.diagnose.learned.model import FILE, Model, save

BUDGET = 0.025  # false alarms on healthy calibration runs; half of what is allowed, because rules were tuned on these programs
CONFIDENCES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
HEALTHY_SHARES = (0.0, 0.03, 0.06, 0.09, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


@dataclass(frozen=True)
class Limits:
    """When to speak: from which confidence of a cause, and below which share of healthy runs among those alike."""

    least_confidence: float
    most_healthy: float


def without_forest(combination: Combination, limits: Limits) -> Model:
    """A model for shares that are known already."""
    none = np.empty(0, dtype=np.int64)
    leafless = Forest(
        (), (), none, none.astype(np.int16), none.astype(np.float32), none, none > 0, none, none, none * 1.0
    )
    return Model(leafless, combination, limits.least_confidence, limits.most_healthy)


def unseen_combinations(
    found: Sequence[Row], shares: Sequence[dict[str, float]]
) -> list[tuple[Combination, np.ndarray]]:
    """For each fold the combination that was made without it, and the rows it may be asked about."""
    return [
        (fit_combination([found[i] for i in learn], [shares[i] for i in learn]), ask)
        for learn, ask in folds(found)
    ]


def unseen_answers(
    found: Sequence[Row],
    shares: Sequence[dict[str, float]],
    limits: Limits,
    made: Sequence[tuple[Combination, np.ndarray]],
) -> list[Answer]:
    """What would be told of each run by a model made without its program: forest, combination and all."""
    answers: dict[int, Answer] = {}
    for combination, ask in made:
        model = without_forest(combination, limits)
        answers |= {int(i): by_learned(found[i], shares[i], model) for i in ask}
    return [answers[i] for i in range(len(found))]


def best_limits(
    found: Sequence[Row],
    shares: Sequence[dict[str, float]],
    made: Sequence[tuple[Combination, np.ndarray]],
) -> Limits:
    """The limits with the most true causes at rank 1 among those that keep healthy runs within the budget."""
    best, most = Limits(CONFIDENCES[-1], 0.0), -1.0
    for least in CONFIDENCES:
        for healthy in HEALTHY_SHARES:
            shown = figures(found, unseen_answers(found, shares, Limits(least, healthy), made))
            if shown["false_alarms"] <= BUDGET and shown["rank1"] > most:
                best, most = Limits(least, healthy), shown["rank1"]
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trees", type=int, default=TREES)
    parser.add_argument("--output", type=Path, default=FILE)
    options = parser.parse_args()
    begun = time.monotonic()
    found = rows("calibration")
    mutants = sum(each.source.kind == "mutant" for each in found)
    if not mutants:
        raise SystemExit(
            "no mutants are recorded; run `python benchmarks/learned/generate.py --set calibration` first"
        )
    names = names_of(found)
    print(
        f"{len(found)} runs ({mutants} of mutants and their originals), {len(names)} features, {len(known_causes(found))} causes"
    )
    shares = unseen_shares(found, names, options.trees)
    combination = fit_combination(found, shares)
    made = unseen_combinations(found, shares)
    limits = best_limits(found, shares, made)
    print("weights:", dict(zip(TERMS, combination.weights, strict=True)), "constant:", combination.constant)
    print("told", limits)
    about = {
        "runs": len(found),
        "mutant_runs": mutants,
        "programs": len({each.source.program for each in found}),
        "scikit-learn": sklearn.__version__,
    }
    model = Model(
        fit_forest(found, names, options.trees),
        combination,
        limits.least_confidence,
        limits.most_healthy,
        about,
    )
    save(model, options.output)
    shown = figures(found, unseen_answers(found, shares, limits, made))
    print({key: round(value, 3) for key, value in shown.items() if isinstance(value, float)})
    print(
        f"{options.output}: {options.output.stat().st_size / 1024:.0f} KiB, {time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main()
