"""Advice followed to the letter: how often the edit told first helps, by itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmark_page.results import Results
from benchmark_page.words import marked, share

_PARTS = (("heldout", "held-out"), ("calibration", "calibration (tuned on)"))
_VERDICTS = ("helps", "no change", "no edit", "harms", "crashes")
_AIM, _MOST_HARM = 0.92, 0.02


def section(results: Results) -> dict[str, Any] | None:
    files = [f"advice-{part}.json" for part, _ in _PARTS if results.has(f"advice-{part}.json")]
    if not files:
        return None
    rows = [
        row
        for part, title in _PARTS
        if results.has(f"advice-{part}.json")
        for row in _rows(title, results.read(f"advice-{part}.json")["programs"])
    ]
    return {"rows": rows, "aim": _AIM, "harm": _MOST_HARM, "origin": results.origin(*files)}


def _rows(title: str, programs: list[dict[str, Any]]) -> list[list[str]]:
    found = []
    for group in sorted({program["group"] for program in programs}):
        counts = Counter(program["verdict"] for program in programs if program["group"] == group)
        advised = sum(counts[verdict] for verdict in _VERDICTS)
        aim = advised == 0 or group != "classic" or counts["helps"] >= _AIM * advised
        shown = [str(counts[verdict]) for verdict in _VERDICTS[1:]]
        found.append(
            [f"{title}, {group}", str(advised), marked(share(counts["helps"], advised), aim), *shown]
        )
    return found
