"""The tables of docs/benchmark.md about repair, from the result files: python benchmarks/repair_report.py"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
METHODS = ("netmend", "tpe", "random", "autotrainer")


def read(part: str, kind: str, method: str) -> dict[str, dict]:
    file = RESULTS / f"repair-{part}-{kind}-{method}.json"
    return {item["name"]: item for item in json.loads(file.read_text())} if file.exists() else {}


def row(title: str, made: list[dict]) -> str:
    count = len(made)
    repaired = [m for m in made if m["repaired"]]
    rates = [max(-1.0, min(1.0, m["improvement_rate"] or 0.0)) for m in made]
    proven = [m for m in made if m["verdict"] == "proven"]
    median = f"{statistics.median(m['trainings'] for m in proven):.1f}" if proven else "–"
    whole = (
        f"{statistics.median(m['trainings'] + m['verification_trainings'] for m in proven):.1f}"
        if proven
        else "–"
    )
    small = sum(m["lines"] <= m["reference_lines"] + 3 for m in proven)
    wrong = sum(not m["confirmed"] for m in proven)
    return (
        f"| {title} | {len(repaired)} of {count} ({len(repaired) / count:.0%}) | {statistics.mean(rates):.2f} / {statistics.median(rates):.2f} "
        f"| {len(proven)} | {median} ({whole}) | {small} of {len(proven)} | {wrong} |"
    )


HEAD = (
    "| | repaired | IR mean / median | proven | trainings to a proven patch (with the proof's) | ≤ reference + 3 lines | proven, not confirmed |\n"
    "|---|---|---|---|---|---|---|"
)


def main() -> None:
    print(HEAD)
    for part in ("heldout", "bugs21", "calibration"):
        made = read(part, "faulty", "netmend")
        if made:
            print(row(part, list(made.values())))
    known = {method: read("heldout", "faulty", method) for method in METHODS}
    known = {method: found for method, found in known.items() if found}
    common = set.intersection(*(set(found) for found in known.values())) if known else set()
    print(f"\nThe same {len(common)} held-out programs, every method:\n\n{HEAD}")
    for method, found in known.items():
        print(row(method, [found[name] for name in sorted(common)]))
    for part in ("heldout", "calibration"):
        healthy = list(read(part, "healthy", "netmend").values())
        if healthy:
            proven = [m for m in healthy if m["verdict"] == "proven"]
            false = [m for m in proven if not m["confirmed"]]
            print(
                f"\n{part}: {len(healthy)} healthy programs, {len(proven)} with a proven patch, {len(false)} of these not confirmed by new seeds"
            )


if __name__ == "__main__":
    main()
