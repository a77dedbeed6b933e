"""Where the thresholds come from: what healthy and faulty programs of the calibration part show, beside each limit.

    python benchmarks/calibrate.py                 # prints the table
    python benchmarks/calibrate.py --write         # and keeps it in docs/calibration.md

For every field with the basis "calibrated", each recorded calibration run gives its most alarming value (`extremes` of the
detector). A limit is right when the healthy runs stay on the quiet side with room to spare; a limit that any healthy run passes alone is
marked, because it must then be one of several conditions that have to hold together.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
from diagnose_corpus import programs, record_all, run_of

from netmend.diagnose.detector import DETECTORS
from netmend.store import read_trace

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
HEAD = """# Calibration

Made by `python benchmarks/calibrate.py --write` from the calibration part of the corpus (`benchmarks/corpus/calibration`); the held-out part is never looked at.
For every limit with the basis *calibrated*: the most alarming values that healthy runs show (all programs, three seeds), those of faulty programs, and how many healthy
runs the whole detector (all its conditions together) fires on.

"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    found = list(programs("calibration"))
    record_all(found, jobs=options.jobs)
    traces = {"healthy": [], "faulty": []}
    for program in found:
        for seed in range(program.seeds):
            path = run_of(program, seed)
            if path is not None:
                traces[program.kind].append(read_trace(path))
    lines = table(traces)
    text = (
        HEAD
        + "\n".join(lines)
        + f"\n\n{len(traces['healthy'])} healthy and {len(traces['faulty'])} faulty runs.\n"
    )
    print("\n".join(lines))
    if options.write:
        PAGE.write_text(text, encoding="utf-8")


def table(traces: dict[str, list]) -> list[str]:
    lines = [
        "| detector | limit | value | healthy, median | healthy, most alarming 5 % | faulty, most alarming 10 % | fires on healthy |",
        "|---|---|---|---|---|---|---|",
    ]
    for code, unit in DETECTORS.classes().items():
        fields = [field for field in dataclasses.fields(unit) if field.metadata.get("basis") == "calibrated"]
        if not fields:
            continue
        detector = unit()
        shown = {kind: [detector.extremes(trace) for trace in found] for kind, found in traces.items()}
        fired = sum(any(True for _ in detector.examine(trace)) for trace in traces["healthy"])
        for field in fields:
            healthy = np.array([values[field.name] for values in shown["healthy"] if field.name in values])
            faulty = np.array([values[field.name] for values in shown["faulty"] if field.name in values])
            limit = float(field.default)
            rising = _rising(healthy, limit)
            lines.append(
                f"| {code} {unit.__name__} | `{field.name}` | {limit:g} | {_quantile(healthy, 0.5)} "
                f"| {_quantile(healthy, 0.95 if rising else 0.05)} | {_quantile(faulty, 0.9 if rising else 0.1)} "
                f"| {fired} of {len(traces['healthy'])} |"
            )
    return lines


def _rising(healthy: np.ndarray, limit: float) -> bool:
    """Whether large values are the alarming ones: healthy runs lie below the limit."""
    return not len(healthy) or float(np.median(healthy)) <= limit


def _quantile(values: np.ndarray, share: float) -> str:
    finite = values[np.isfinite(values)]
    return f"{np.quantile(finite, share):.3g}" if len(finite) else "–"


if __name__ == "__main__":
    main()
