"""Trains the buggy and the fixed program of every fault of the 22-fault benchmark, beside the published values.

python benchmarks/bench_ports.py [--faults D1,M2] [--seeds 5] [--data FOLDER]

It answers one question: does the port show the fault? Nothing of netmend watches these trainings.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.datasets.catalog import default_folder, prepare_all
from bench.faults22.facts import BenchFault, fault, faults
from bench.faults22.programs import SIDES, Written, write

Known = dict[tuple[str, tuple[str, ...]], list[tuple[float, float]]]  # by text and what says how much data
RESULT = Path(__file__).parent / "results" / "bench-ports.json"


SEVERAL = """
import os, runpy, sys, time
import torch
for seed in range(int(sys.argv[2])):
    os.environ["SEED"] = str(seed)
    began = time.process_time()
    runpy.run_path(sys.argv[1], run_name="__main__")
    print("processor seconds", time.process_time() - began)
"""


def trained(written: Written, seeds: int) -> list[tuple[float, float]]:
    """Final metric and processor seconds (without imports) of one training per seed, on one core."""
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, str(written.entry), str(seeds)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    values = re.findall(written.pattern, done.stdout)
    seconds = re.findall(r"processor seconds ([0-9.]+)", done.stdout)
    if done.returncode != 0 or not len(values) == len(seconds) == seeds:
        raise SystemExit(f"{written.entry}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return [(float(value), float(spent)) for value, spent in zip(values, seconds, strict=True)]


def measure(one: BenchFault, seeds: int, data: Path, known: Known) -> dict[str, Any]:
    row: dict[str, Any] = {
        "fault": one.id,
        "title": one.title,
        "data": one.stand_in or one.data,
        "is_stand_in": bool(one.stand_in),
        "reductions": list(one.reductions),
        "metric": one.fixed.metric,
        "study_buggy": one.study_buggy,
        "study_repaired": one.study_repaired,
    }
    for side in SIDES:
        with tempfile.TemporaryDirectory(prefix="netmend-port-") as folder:
            written = write(one, side, Path(folder), data)
            text = (written.entry.read_text(), one.reductions)  # the fixed sides of a family are one program
            if text not in known:
                known[text] = trained(written, seeds)
            runs = known[text]
        row["higher_is_better"] = written.higher_is_better
        row[side] = [round(value, 4) for value, _ in runs]
        row[f"{side}_seconds"] = round(statistics.mean(seconds for _, seconds in runs), 1)
    row["shows_the_fault"] = shows(row)
    return row


def shows(row: dict[str, Any]) -> bool:
    """Whether every buggy training is worse than every fixed one."""
    buggy, fixed = row["buggy"], row["fixed"]
    return max(buggy) < min(fixed) if row["higher_is_better"] else min(buggy) > max(fixed)


def line(row: dict[str, Any]) -> str:
    def told(values: list[float]) -> str:
        return f"{statistics.mean(values):7.3f} ({min(values):.3f}-{max(values):.3f})"

    study = f"{row['study_buggy']:.3f} -> "
    study += "?" if row["study_repaired"] is None else "{:.3f}-{:.3f}".format(*row["study_repaired"])
    mark = "" if row["shows_the_fault"] else "  NOT CLEARLY"
    return (
        f"{row['fault']:3} {told(row['buggy']):24} {told(row['fixed']):24} "
        f"{row['buggy_seconds']:5.1f} s {row['fixed_seconds']:5.1f} s   study {study:22} "
        f"{'stand-in' if row['is_stand_in'] else 'true data':9}{mark}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", default="", help="comma-separated; default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=None, help="where the data sets are kept")
    parser.add_argument("--output", type=Path, default=RESULT)
    chosen = parser.parse_args()
    data = chosen.data or default_folder()
    prepare_all(data, lambda text: print(f"# {text}"))
    wanted = [fault(id) for id in chosen.faults.split(",")] if chosen.faults else list(faults())
    kept, known = {}, Known()
    if chosen.output.exists():  # rows of faults that are not measured now stay
        kept = {row["fault"]: row for row in json.loads(chosen.output.read_text())["faults"]}
    print(f"{'':3} {'buggy: mean (range)':24} {'fixed: mean (range)':24}")
    for one in wanted:
        kept[one.id] = measure(one, chosen.seeds, data, known)
        print(line(kept[one.id]), flush=True)
        rows = [kept[item.id] for item in faults() if item.id in kept]
        chosen.output.write_text(json.dumps({"faults": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
