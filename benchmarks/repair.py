"""How well does netmend repair? Repairs the faulty programs of the corpus and compares with the reference fixes.

python benchmarks/repair.py --part calibration                      # while working on repairs
python benchmarks/repair.py --part heldout                          # the figures that count
python benchmarks/repair.py --part heldout --method random          # beside it: random, tpe, autotrainer
python benchmarks/repair.py --part heldout --kind healthy           # patches that healthy programs get
python benchmarks/repair.py --part heldout --summary                # what has been measured so far

A program counts as repaired when its patch reaches 95 % of the reference fix's gain, measured on seeds that neither the search nor the
proof has used. Work is kept in benchmarks/.repair-runs and resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

from diagnose_corpus import PARTS, Program, programs
from repair_methods import METHODS
from repair_score import Judged, judged, reference_of

from netmend.trials.local import LocalExecutor

WORK = Path(__file__).parent / ".repair-runs"
RESULTS = Path(__file__).parent / "results"


def folder_of(program: Program) -> Path:
    """A folder of its own for every program, as its author would have it."""
    folder = WORK / program.part / program.kind / program.name
    folder.mkdir(parents=True, exist_ok=True)
    own = program.entry.parent.name == program.name
    for file in program.entry.parent.rglob("*") if own else [program.entry]:
        if file.is_file() and "__pycache__" not in file.parts:
            target = folder / file.relative_to(program.entry.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != file.read_bytes():
                shutil.copy(file, target)
    return folder


def result_file(program: Program, method: str) -> Path:
    return folder_of(program) / ".netmend" / f"result-{method}.json"


def measure(program: Program, method: str, executor: LocalExecutor, again: bool) -> Judged | None:
    file = result_file(program, method)
    stamp = f"{program.fingerprint}"
    if file.exists() and not again:
        known = json.loads(file.read_text(encoding="utf-8"))
        if known.pop("stamp") == stamp:
            return Judged(**known)
    reference = reference_of(program)
    if program.kind == "faulty" and (reference is None or reference.metric is None):
        return None
    started = time.monotonic()
    found = METHODS[method](folder_of(program), program.entry.name, executor)
    made = judged(program, reference, found, folder_of(program), executor, time.monotonic() - started)
    file.write_text(json.dumps({"stamp": stamp, **made.as_dict()}, indent=1), encoding="utf-8")
    return made


def tell(made: Judged) -> None:
    rate = "–" if made.improvement_rate is None else f"{made.improvement_rate:.2f}"
    print(
        f"{made.name:45} {made.verdict:10} IR {rate:>6} search {made.trainings:5.1f} lines {made.lines}/{made.reference_lines} "
        f"{made.faulty} → {made.patched} (reference {made.fixed}) {'; '.join(made.titles)}",
        flush=True,
    )


def summary(all_made: list[Judged]) -> None:
    made = [m for m in all_made if m.kind == "faulty"]
    healthy = [m for m in all_made if m.kind == "healthy"]
    if made:
        repaired = [m for m in made if m.repaired]
        proven = [m for m in made if m.verdict == "proven"]
        print(f"programs                       {len(made)}")
        print(f"repaired (IR ≥ 0.95)           {len(repaired)}  {len(repaired) / len(made):.0%}")
        rates = [max(-1.0, min(1.0, m.improvement_rate or 0.0)) for m in made]
        print(f"IR mean / median               {statistics.mean(rates):.2f} / {statistics.median(rates):.2f}")
        if proven:
            total = [m.trainings + m.verification_trainings for m in proven]
            print(f"proven                         {len(proven)}")
            print(f"trainings to the patch, median {statistics.median(m.trainings for m in proven):.1f}")
            print(f"with the proof's, median       {statistics.median(total):.1f}")
            small = [m for m in proven if m.lines <= m.reference_lines + 3]
            print(f"≤ reference + 3 lines          {len(small)} of {len(proven)}")
            false = [m for m in proven if not m.confirmed]
            print(f"proven, not confirmed by new seeds {len(false)}: {', '.join(m.name for m in false)}")
    if healthy:
        proven = [m for m in healthy if m.verdict == "proven"]
        false = [m for m in proven if not m.confirmed]
        print(
            f"healthy programs               {len(healthy)}; proven patches {len(proven)}, of these not confirmed {len(false)}"
        )
        for m in proven:
            print(f"  {m.name}: {'; '.join(m.titles)}; {m.faulty} → {m.patched}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, default="calibration")
    parser.add_argument("--kind", choices=("faulty", "healthy"), default="faulty")
    parser.add_argument("--method", choices=tuple(METHODS), default="netmend")
    parser.add_argument("--match", default="")
    parser.add_argument(
        "--every", type=int, default=1, help="only every n-th program, by the order of their names"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--summary", action="store_true", help="measure nothing, tell what is known")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no further program after this")
    options = parser.parse_args()
    found = list(programs(options.part, options.kind, options.match))[:: options.every]
    executor = LocalExecutor(options.jobs)
    all_made: list[Judged] = []
    started = time.monotonic()
    for index, program in enumerate(found):
        if options.summary and not result_file(program, options.method).exists():
            continue
        if (time.monotonic() - started) / 60 > options.minutes:
            break
        sys.stderr.write(f"[{index + 1}/{len(found)}] {program.name}\n")
        made = measure(program, options.method, executor, options.again and not options.summary)
        if made is not None:
            all_made.append(made)
            tell(made)
    print()
    summary(all_made)
    name = f"repair-{options.part}-{options.kind}-{options.method}.json"
    if not options.match:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / name).write_text(json.dumps([m.as_dict() for m in all_made], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
