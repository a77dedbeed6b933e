"""Diagnosis on the corpus: detection, causes, lines, false alarms, by family, and beside other tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench import bugs21
from benchmark_page.results import Results
from benchmark_page.words import codes, joined, marked, number, share

PARTS = (
    ("heldout", "held-out"),
    ("calibration", "calibration (tuned on)"),
)
_EARLY = 10  # steps


@dataclass(frozen=True)
class Aims:
    """What was asked for on the held-out part."""

    detected: float = 0.90
    first: float = 0.80
    line: float = 0.80
    alarms: float = 0.05


def sections(results: Results) -> dict[str, Any]:
    files = [f"diagnose-{part}.json" for part, _ in PARTS]
    held = results.read("diagnose-heldout.json")
    if held is None:
        return {"diagnosis": None, "rivals": None}
    faulty = [run for run in held if run["kind"] == "faulty"]
    timed = [run for run in faulty if run["first"] and run["step"] is not None]
    return {
        "diagnosis": {
            "rows": [
                _row(title, results.read(f"diagnose-{part}.json"), Aims() if part == "heldout" else None)
                for part, title in PARTS
                if results.has(f"diagnose-{part}.json")
            ],
            "aims": Aims(),
            "missed": _missed(held),
            "silent": sum(not run["detected"] for run in faulty),
            "silent_codes": codes(run["expected"][0] for run in faulty if not run["detected"]),
            "alarm_codes": codes(run["told"][0] for run in held if run["kind"] == "healthy" and run["told"]),
            "early": sum(run["step"] < _EARLY for run in timed),
            "timed": len(timed),
            "families": _families(faulty),
            "origin": results.origin(*files),
        },
        "rivals": _rivals(results, held),
        "localisers": joined([str(bugs21.facts()["counted"]["found"][tool]) for tool in bugs21.TOOLS]),
    }


def _counts(runs: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    faulty = [run for run in runs if run["kind"] == "faulty"]
    healthy = [run for run in runs if run["kind"] == "healthy"]
    found = {
        name: (sum(run[name] for run in faulty), len(faulty))
        for name in ("detected", "first", "third", "line")
    }
    return found | {"alarms": (sum(bool(run["told"]) for run in healthy), len(healthy))}


def _row(title: str, runs: list[dict[str, Any]], aims: Aims | None) -> dict[str, str]:
    counts = _counts(runs)
    shown = {name: share(*counts[name]) for name in ("detected", "first", "third", "line")}
    shown |= {"alarms": share(*counts["alarms"], 1), "title": title}
    for name in _misses(counts, aims) if aims else ():
        shown[name] = marked(shown[name], False)
    return shown


def _misses(counts: dict[str, tuple[int, int]], aims: Aims) -> list[str]:
    low = [name for name in ("detected", "first", "line") if _of(counts[name]) < getattr(aims, name)]
    return low + ["alarms"] * (_of(counts["alarms"]) > aims.alarms)


def _of(count: tuple[int, int]) -> float:
    return count[0] / count[1] if count[1] else 0.0


def _missed(held: list[dict[str, Any]]) -> str:
    words = {
        "detected": "detection",
        "first": "the cause at rank 1",
        "line": "the line",
        "alarms": "the false alarms",
    }
    return joined([words[name] for name in _misses(_counts(held), Aims())])


def _families(faulty: list[dict[str, Any]]) -> list[tuple[str, int, int, int, int]]:
    names = sorted({run["expected"][0].partition("-")[0] for run in faulty})
    rows = []
    for name in names:
        own = [run for run in faulty if run["expected"][0].startswith(f"{name}-")]
        rows.append(
            (name, len(own), *(sum(run[key] for run in own) for key in ("detected", "first", "line")))
        )
    return rows


def _rivals(results: Results, held: list[dict[str, Any]]) -> dict[str, Any] | None:
    others = results.read("diagnose-rivals.json")
    if others is None:
        return None
    counts = _counts(held)
    own = [
        "**netmend**",
        *(share(*counts[n]) for n in ("detected", "first", "line")),
        share(*counts["alarms"]),
    ]
    rows = [own]
    for row in others:
        found = (share(row[key], row["faulty"]) for key in ("detected", "cause", "line"))
        rows.append([row["tool"], *found, share(row["alarms"], row["healthy"])])
    loud = max(others, key=lambda row: row["detected"])
    best = {key: max(row[key] for row in others) for key in ("cause", "line")}
    return {
        "rows": rows,
        "ahead": counts["first"][0] > best["cause"] and counts["line"][0] > best["line"],
        "loudest": loud,
        "quietest": min(others, key=lambda row: row["alarms"]),
        "loudest_share": number(100 * loud["alarms"] / loud["healthy"], 0),
        "origin": results.origin("diagnose-rivals.json"),
    }
