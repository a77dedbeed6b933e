"""Which kind of model: each judged on calibration programs that it has not seen, alone and combined with the rules.

python benchmarks/learned/compare.py             # some minutes; the table stands in docs/learned.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from fitting import balance, boosting, dividing, examples, folds, known_causes, names_of
from ranking.combination import HEALTHY
from ranking.features import row
from rows import Row, rows
from scoring import figures
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from unseen import best_limits, unseen

KINDS: dict[str, Callable[[], object]] = {
    "extremely randomised trees": lambda: ExtraTreesClassifier(200, max_features=0.3, random_state=0),
    "random forest": lambda: RandomForestClassifier(200, max_features=0.1, random_state=0),
    "gradient boosting": boosting,
    "logistic regression": lambda: make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(C=0.03, max_iter=300),
    ),
    "logistic regression over bins": lambda: make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        KBinsDiscretizer(5, quantile_method="averaged_inverted_cdf"),
        LogisticRegression(C=0.1, max_iter=300),
    ),
}


def unseen_shares(
    found: Sequence[Row], names: Sequence[str], make: Callable[[], object]
) -> list[dict[str, float]]:
    shares: list[dict[str, float]] = [{} for _ in found]
    table = np.array([row(each.values, names) for each in found])
    for learn, ask in folds(found):
        part = [found[index] for index in learn]
        indices, classes, weights = examples(part, known_causes(part))
        weight = np.array(weights) * balance(np.array(classes), np.array(weights))
        model = make()
        step = (
            {"logisticregression__sample_weight": weight}
            if hasattr(model, "steps")
            else {"sample_weight": weight}
        )
        usable = dividing(table[learn][indices])
        model.fit(table[learn][indices][:, usable], classes, **step)
        for index, said in zip(ask, model.predict_proba(table[ask][:, usable]), strict=True):
            shares[index] = dict(zip(model.classes_.tolist(), said.tolist(), strict=True))
    return shares


def alone(found: Sequence[Row], shares: Sequence[dict[str, float]]) -> float:
    """Share of the faulty runs whose likeliest class is a true cause; rules are only heard as features."""
    faulty = [(each, said) for each, said in zip(found, shares, strict=True) if each.source.causes]
    right = [
        max((name for name in said if name != HEALTHY), key=said.__getitem__)
        in {code for codes in each.source.causes for code in codes}
        for each, said in faulty
    ]
    return float(np.mean(right))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="kinds with this in their name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = rows("calibration")
    names = names_of(found)
    mutants = [index for index, each in enumerate(found) if each.source.kind == "mutant"]
    print(
        "| model | cause at rank 1, alone | with rules | top 3 | false alarms | calibration error | seconds |\n|---|---|---|---|---|---|---|"
    )
    for kind, make in KINDS.items():
        if options.only not in kind:
            continue
        begun = time.monotonic()
        shares = unseen_shares(found, names, make)
        known = unseen(found, shares)
        limits = best_limits(found, known)
        answers = [each.answer(limits) for each in known]
        own = figures([found[i] for i in mutants], [answers[i] for i in mutants])
        single = alone([found[i] for i in mutants], [shares[i] for i in mutants])
        print(
            f"| {kind} | {single:.1%} | {own['rank1']:.1%} | {own['top3']:.1%} | {own['false_alarms']:.1%} "
            f"| {own['ece']:.3f} | {time.monotonic() - begun:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
