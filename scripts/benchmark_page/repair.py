"""Repair on the corpus, beside searches without diagnosis, and of healthy programs."""

from __future__ import annotations

import statistics
from typing import Any

from benchmark_page.results import Results
from benchmark_page.words import codes, joined, marked, share

PARTS = ("heldout", "bugs21", "calibration")
METHODS = ("netmend", "tpe", "random", "autotrainer")
_AIMS = {"repaired": 0.80, "trainings": 10.0, "small": 0.90, "wrong": 0.05}


def sections(results: Results) -> dict[str, Any]:
    held = results.read(_file("heldout"))
    if held is None:
        return {"repair": None, "searches": None, "healthy": None}
    return {
        "repair": {
            "rows": [
                _row(part, results.read(_file(part)), part == "heldout")
                for part in PARTS
                if results.has(_file(part))
            ],
            "missed": _missed(held),
            "median": f"{_median(held):.1f}",
            "median_with_proof": f"{_median(held, True):.1f}",
            **_unrepaired(results, held),
            **_unconfirmed(held),
            "origin": results.origin(*(_file(part) for part in PARTS)),
        },
        "searches": _searches(results),
        "healthy": _healthy(results),
    }


def _file(part: str, method: str = "netmend", kind: str = "faulty") -> str:
    return f"repair-{part}-{kind}-{method}.json"


def _figures(made: list[dict[str, Any]]) -> dict[str, Any]:
    proven = [item for item in made if item["verdict"] == "proven"]
    return {
        "repaired": sum(item["repaired"] for item in made),
        "rates": [max(-1.0, min(1.0, item["improvement_rate"] or 0.0)) for item in made],
        "proven": len(proven),
        "small": sum(item["lines"] <= item["reference_lines"] + 3 for item in proven),
        "wrong": sum(not item["confirmed"] for item in proven),
    }


def _median(made: list[dict[str, Any]], with_proof: bool = False) -> float:
    proven = [item for item in made if item["verdict"] == "proven"]
    costs = [item["trainings"] + with_proof * item["verification_trainings"] for item in proven]
    return statistics.median(costs) if costs else float("nan")


def _row(title: str, made: list[dict[str, Any]], judged: bool = False) -> list[str]:
    found = _figures(made)
    misses = _misses(made) if judged else ()
    median = f"{_median(made):.1f} ({_median(made, True):.1f})" if found["proven"] else "–"
    return [
        title,
        marked(share(found["repaired"], len(made)), "repaired" not in misses),
        f"{statistics.mean(found['rates']):.2f} / {statistics.median(found['rates']):.2f}",
        str(found["proven"]),
        marked(median, "trainings" not in misses),
        marked(f"{found['small']} of {found['proven']}", "small" not in misses),
        marked(str(found["wrong"]), "wrong" not in misses),
    ]


def _misses(made: list[dict[str, Any]]) -> list[str]:
    found, proven = _figures(made), max(1, _figures(made)["proven"])
    checks = {
        "repaired": found["repaired"] / len(made) >= _AIMS["repaired"],
        "trainings": _median(made) <= _AIMS["trainings"],
        "small": found["small"] / proven >= _AIMS["small"],
        "wrong": found["wrong"] / proven <= _AIMS["wrong"],
    }
    return [name for name, good in checks.items() if not good]


def _missed(made: list[dict[str, Any]]) -> str:
    words = {
        "repaired": "the share repaired",
        "trainings": "the trainings",
        "small": "the size of patches",
        "wrong": "the patches that are not confirmed",
    }
    return joined([words[name] for name in _misses(made)])


def _unrepaired(results: Results, held: list[dict[str, Any]]) -> dict[str, Any]:
    """The causes of what was not repaired; of programs with several faults only that they have."""
    known = {
        run["name"]: run for run in results.read("diagnose-heldout.json") or () if run["kind"] == "faulty"
    }
    left = [item["name"] for item in held if not item["repaired"]]
    single = [
        known[name]["expected"][0] for name in left if name in known and len(known[name]["expected"]) == 1
    ]
    several = sum(len(known[name]["expected"]) > 1 for name in left if name in known)
    undetected = sum(not known[name]["detected"] for name in left if name in known)
    return {
        "left": len(left),
        "left_codes": codes(single),
        "left_several": several,
        "left_undetected": undetected,
    }


def _unconfirmed(held: list[dict[str, Any]]) -> dict[str, int]:
    """Proven patches that the fresh seeds do not confirm, and how many of them have a reference fix that does no better there."""
    wrong = [item for item in held if item["verdict"] == "proven" and not item["confirmed"]]
    return {
        "wrong": len(wrong),
        "wrong_like_reference": sum(item["fixed"] == item["faulty"] for item in wrong),
    }


def _searches(results: Results) -> dict[str, Any] | None:
    found = {
        method: {item["name"]: item for item in results.read(_file("heldout", method))}
        for method in METHODS
        if results.has(_file("heldout", method))
    }
    if len(found) < 2:
        return None
    common = sorted(set.intersection(*(set(items) for items in found.values())))
    return {
        "count": len(common),
        "rows": [_row(method, [items[name] for name in common]) for method, items in found.items()],
        "origin": results.origin(*(_file("heldout", method) for method in found)),
    }


def _healthy(results: Results) -> dict[str, Any] | None:
    made = results.read(_file("heldout", kind="healthy"))
    if made is None:
        return None
    proven = [item for item in made if item["verdict"] == "proven"]
    return {
        "count": len(made),
        "proven": len(proven),
        "titles": "; ".join(title for item in proven for title in item["titles"]),
        "unconfirmed": sum(not item["confirmed"] for item in proven),
        "origin": results.origin(_file("heldout", kind="healthy")),
    }
