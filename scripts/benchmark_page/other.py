"""Sections of one file each: speed and learned diagnosis."""

from __future__ import annotations

from typing import Any

from benchmark_page.results import Results
from benchmark_page.words import marked, number

SPEED, LEARNED = "diagnose-speed.json", "learned.json"
_GAIN, _ALARMS, _CALIBRATION = 0.10, 0.05, 0.05  # asked of a model that is switched on


def sections(results: Results) -> dict[str, Any]:
    speed = results.read(SPEED)
    return {
        "speed": None if speed is None else {**speed, "origin": results.origin(SPEED)},
        "learned": _learned(results),
    }


def _learned(results: Results) -> dict[str, Any] | None:
    data = results.read(LEARNED)
    if data is None:
        return None
    found = data["criterion"]
    rows = []
    for name, both in data["sets"].items():
        for way in ("rules", "learned"):
            own = both[way]
            rows.append(
                [
                    name,
                    way,
                    own["faulty"],
                    *(_percent(own[key]) for key in ("detected", "rank1", "top3", "recall")),
                    own["healthy"],
                    _percent(own["false_alarms"]),
                    number(own["ece"], 3),
                ]
            )
    asked = [
        [
            "points gained at rank 1, held-out mutants",
            marked(f"{100 * found['gain_at_rank1']:+.1f}", found["gain_at_rank1"] >= _GAIN),
            f"at least {100 * _GAIN:.0f}",
        ],
        [
            "false alarms, the worse of the two held-out sets",
            marked(_percent(found["false_alarms"]), found["false_alarms"] <= _ALARMS),
            f"at most {_ALARMS:.0%}",
        ],
        [
            "calibration error, held-out mutants",
            marked(number(found["ece"], 3), found["ece"] <= _CALIBRATION),
            f"at most {_CALIBRATION}",
        ],
        [
            "points gained at rank 1, held-out programs",
            f"{100 * found['change_on_programs']:+.1f}",
            "–",
        ],
    ]
    return {
        "model": data["model"],
        "rows": rows,
        "asked": asked,
        "met": found["met"],
        "origin": results.origin(LEARNED),
    }


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
