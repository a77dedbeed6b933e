"""Rules alone beside rules with the learned model, on programs that neither the forest nor its weights have seen.

    python benchmarks/learned/evaluate.py                # prints, writes benchmarks/results/learned.json
    python benchmarks/learned/evaluate.py --write        # and the figures in docs/learned.md and its diagram

Only sums are printed of the held-out part: no program of it is named.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from data_sheet import write_page
from fitting import known_causes, names_of, shares_of
from ranking.model import FILE, Model, load
from rows import Row, rows
from scoring import Answer, Limits, by_learned, by_rules, figures, per_cause
from unseen import unseen, unseen_shares

RESULT = Path(__file__).parents[1] / "results" / "learned.json"
GAIN, BUDGET, CALIBRATION = 0.10, 0.05, 0.05  # asked of a model that is switched on


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--model", type=Path, default=FILE)
    options = parser.parse_args()
    model = load(options.model)
    result = {"model": _about(model), "sets": measured(model)}
    result["criterion"] = criterion(result["sets"])
    for name, both in result["sets"].items():
        print(
            f"\n{name}: {both['rules']['faulty']} faulty, {both['rules']['healthy']} healthy, {both['rules']['harmless']} harmless"
        )
        for way in ("rules", "learned"):
            shown = {key: value for key, value in both[way].items() if isinstance(value, float)}
            print(f"  {way:8}", "  ".join(f"{key} {value:.3f}" for key, value in shown.items()))
    print("\n" + "\n".join(f"{key}: {value}" for key, value in result["criterion"].items()))
    RESULT.write_text(json.dumps(_rounded(result), indent=1) + "\n", encoding="utf-8")
    if options.write:
        write_page(_rounded(result))


def measured(model: Model) -> dict[str, dict]:
    calibration = rows("calibration")
    shares = unseen_shares(calibration, names_of(calibration))
    limits = Limits(model.least_confidence, model.most_healthy)
    answers = [each.answer(limits) for each in unseen(calibration, shares)]
    held_out = rows("heldout")
    seen = [by_learned(row, shares_of(model.forest, row), model) for row in held_out]
    known = set(known_causes(calibration))
    return {
        "calibration mutants, unseen folds": _both(calibration, answers, "mutant", known),
        "held-out mutants": _both(held_out, seen, "mutant", known),
        "held-out programs": _both(held_out, seen, "program", known),
    }


def _both(found: Sequence[Row], answers: Sequence[Answer], kind: str, known: set[str]) -> dict:
    chosen = [i for i, row in enumerate(found) if row.source.kind == kind]
    kept = [found[i] for i in chosen]
    learned = [answers[i] for i in chosen]
    rules = [by_rules(row) for row in kept]
    familiar = [i for i, row in enumerate(kept) if row.source.causes and row.source.causes[0][0] in known]
    return {
        "rules": figures(kept, rules),
        "learned": figures(kept, learned),
        "known_causes_rank1": {
            "rules": figures([kept[i] for i in familiar], [rules[i] for i in familiar])["rank1"],
            "learned": figures([kept[i] for i in familiar], [learned[i] for i in familiar])["rank1"],
        },
        "per_cause": {"rules": per_cause(kept, rules), "learned": per_cause(kept, learned)},
    }


def criterion(sets: dict[str, dict]) -> dict:
    """Whether the model may be switched on: clearly better on unseen programs, few false alarms, honest confidences."""
    both, programs = sets["held-out mutants"], sets["held-out programs"]
    gain = both["learned"]["rank1"] - both["rules"]["rank1"]
    alarms = max(both["learned"]["false_alarms"], programs["learned"]["false_alarms"])
    error = both["learned"]["ece"]
    return {
        "gain_at_rank1": gain,
        "false_alarms": alarms,
        "ece": error,
        "change_on_programs": programs["learned"]["rank1"] - programs["rules"]["rank1"],
        "met": bool(gain >= GAIN and alarms <= BUDGET and error <= CALIBRATION),
    }


def _about(model: Model) -> dict:
    forest = model.forest
    return {
        **model.made_from,
        "trees": forest.trees,
        "nodes": len(forest.feature),
        "features": len(forest.features),
        "causes": len(forest.classes) - 1,
        "least_confidence": model.least_confidence,
        "most_healthy": model.most_healthy,
        "bytes": FILE.stat().st_size if FILE.exists() else None,
    }


def _rounded(value):
    if isinstance(value, float):
        return None if value != value else round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
