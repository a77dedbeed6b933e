"""Learn the ranking of causes from the calibration mutants and write the shipped model.

    python benchmarks/learned/generate.py --set calibration      # once: records originals and mutants
    python benchmarks/learned/train.py                           # features are kept, so a second time takes a minute

Every choice (weights of the combination, the confidence from which a cause is told) is made on forests that have not seen the program they
judge. Needs scikit-learn: pip install 'netmend[learn]'.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import sklearn
from fitting import fit_combination, fit_forest, known_causes, names_of
from ranking.combination import TERMS
from ranking.model import FILE, Model, save
from rows import rows
from scoring import figures
from unseen import best_limits, unseen, unseen_shares


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    shares = unseen_shares(found, names)
    combination = fit_combination(found, shares)
    known = unseen(found, shares)
    limits = best_limits(found, known)
    print("weights:", dict(zip(TERMS, combination.weights, strict=True)), "constant:", combination.constant)
    print("told", limits)
    about = {
        "runs": len(found),
        "mutant_runs": mutants,
        "programs": len({each.source.program for each in found}),
        "scikit-learn": sklearn.__version__,
    }
    model = Model(
        fit_forest(found, names),
        combination,
        limits.least_confidence,
        limits.most_healthy,
        about,
    )
    save(model, options.output)
    shown = figures(found, [each.answer(limits) for each in known])
    print({key: round(value, 3) for key, value in shown.items() if isinstance(value, float)})
    print(
        f"{options.output}: {options.output.stat().st_size / 1024:.0f} KiB, {time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main()
