"""The table of the study of language models: means over seeds with 95 % intervals, and the comparisons that were asked for."""

from __future__ import annotations

import json
import math
import statistics
from typing import Any

T = {
    2: 12.71,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}  # 97.5 %, by sample size
COLUMNS = (
    "repaired",
    "repaired_unseen",
    "kept",
    "ppl_growth",
    "ppl_stage_growth",
    "near_miss",
    "touched",
    "seconds",
    "peak_mib",
)


GROWTHS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)


def report(lines: list[dict[str, Any]], setting: str, rates: dict[str, float]) -> dict[str, Any]:
    """Print the table of one setting, and give all of it."""
    here = [line for line in lines if line["setting"] == setting]
    table = summary([line for line in here if line["stage"] == "mend"])
    found = {"table": table, "rates": rates, "claims": claims(table), "frontier": frontier(here)}
    print(f"{setting}\n{'method':18}" + "".join(f"{name:>20}" for name in COLUMNS))
    for method, row in sorted(table.items(), key=lambda item: -item[1]["repaired"]["mean"]):
        print(f"{method:18}" + "".join(f"{_cell(row.get(name)):>20}" for name in COLUMNS))
    print(
        "share left unwanted on validation data of the tuning seed, at any rate, where perplexity grows by at most …"
    )
    print(f"{'method':18}" + "".join(f"{growth:>10.1%}" for growth in GROWTHS))
    for method, shares in found["frontier"].items():
        print(f"{method:18}" + "".join(f"{share:>10.3f}" for share in shares))
    for name, claim in found["claims"].items():
        print(f"{name}: {json.dumps(claim)}")
    return found


def frontier(lines: list[dict[str, Any]]) -> dict[str, list[float]]:
    """By method: the least that was left unwanted at each growth of perplexity, over all rates and all looks.

    It depends on no price: a method that the chosen price keeps from repairing anything still shows what it can do.
    """
    found: dict[str, list[float]] = {}
    for line in lines:
        if line["stage"] != "tune":
            continue
        best = found.setdefault(line["method"], [1.0] * len(GROWTHS))
        for _, unwanted, loss in line["history"]:
            growth = math.expm1(min(loss - line["validation_loss_before"], 50.0))
            left = unwanted / line["validation_before"]
            for at, most in enumerate(GROWTHS):
                if growth <= most:
                    best[at] = min(best[at], left)
    return found


def summary(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By method: of each measure, its values by seed, relative to the same seed's model without repair."""
    before = {line["seed"]: line for line in lines if line["method"] == "none"}
    held: dict[str, dict[str, list[float]]] = {}
    for line in sorted(lines, key=lambda one: one["seed"]):
        if line["seed"] not in before:
            continue
        first, into = before[line["seed"]], held.setdefault(line["method"], {})
        values = {
            "unwanted": line["unwanted"],
            "repaired": 1 - line["unwanted"] / max(first["unwanted"], 1e-9),
            "repaired_unseen": 1 - line["unwanted_unseen"] / max(first["unwanted_unseen"], 1e-9),
            "kept": line["kept_rude"] / max(first["kept_rude"], 1e-9),
            "ppl_growth": line["ppl_clean"] / first["ppl_clean"] - 1,
            "ppl_stage_growth": line["ppl_stage"] / first["ppl_stage"] - 1,
        } | {
            name: line.get(name)
            for name in ("near_miss", "touched", "seconds", "peak_mib", "ppl_clean", "kept_rude")
        }
        for name, value in values.items():
            if value is not None:
                into.setdefault(name, []).append(value)
    return {method: {name: _interval(values) for name, values in row.items()} for method, row in held.items()}


def claims(table: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The published statements, each with what was measured here."""
    found: dict[str, Any] = {}
    for kind in ("", "_kl"):
        names = [f"irepair{kind}", f"irepair_fixed{kind}", f"irepair_min{kind}", f"irepair_random{kind}"]
        if all(name in table for name in names):
            values = [table[name]["repaired"]["mean"] for name in names]
            found[f"dynamic > fixed > min{kind}"] = {
                "repaired": dict(zip(names, values, strict=True)), "holds": values[0] > values[1] > values[2],
                "dynamic > random": values[0] > values[3],
            }  # fmt: skip
    if "dpo" in table:
        dpo = table["dpo"]
        for name, row in table.items():
            if name in ("none", "dpo"):
                continue
            ahead = (
                row["repaired"]["mean"] / dpo["repaired"]["mean"] - 1 if dpo["repaired"]["mean"] > 0 else None
            )
            cost, theirs = row["ppl_growth"]["mean"], dpo["ppl_growth"]["mean"]
            found[f"{name} against dpo"] = {
                "ahead_in_repair": ahead, "ppl_growth": cost, "dpo_ppl_growth": theirs,
                "ahead_by_more_than_43.6_percent": ahead is not None and ahead > 0.436,
                "at_most_half_the_cost": cost <= max(theirs, 0.0) / 2,
                "left_unwanted_over_dpo": row["unwanted"]["mean"] / dpo["unwanted"]["mean"] if dpo["unwanted"]["mean"] else None,
            }  # fmt: skip
    return found


def _interval(values: list[float]) -> dict[str, Any]:
    count, mean = len(values), statistics.fmean(values)
    half = T.get(count, 2.0) * statistics.stdev(values) / count**0.5 if count > 1 else None
    return {"mean": mean, "half": half, "values": values}


def _cell(one: dict[str, Any] | None) -> str:
    if one is None:
        return "-"
    return f"{one['mean']:.4g}" + (f" ± {one['half']:.2g}" if one["half"] is not None else "")
