"""How well does netmend diagnose? Runs the corpus and prints detection, cause, line and false alarms.

python benchmarks/diagnose.py --part calibration            # while working on detectors
python benchmarks/diagnose.py --part heldout                # the figures that count
python benchmarks/diagnose.py --match softmax --verbose     # some programs, with what was said
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from diagnose_corpus import PARTS, Program, programs, record_all, run_of

from netmend.localise import diagnose
from netmend.store import read_trace
from netmend.vocabulary import Diagnosis, Fault


@dataclass(frozen=True)
class Score:
    """One run of one program."""

    name: str
    part: str
    kind: str
    seed: int
    expected: tuple[str, ...]
    told: tuple[str, ...]  # codes, best first
    detected: bool
    first: bool  # a true cause at rank 1
    third: bool  # a true cause among the first three
    line: bool  # the fault at rank 1..3 with the true cause names the right line (±1)
    step: int | None  # first step at which the fault told first was visible
    symptoms: tuple[str, ...]
    failures: tuple[str, ...] = ()


def score(program: Program, seed: int, diagnosis: Diagnosis) -> Score:
    accepted = program.causes
    right = [
        (rank, fault, expected)
        for rank, fault in enumerate(diagnosis.faults)
        for expected in accepted
        if fault.cause in expected.accept
    ]
    ranks = [rank for rank, _, _ in right]
    return Score(
        program.name,
        program.part,
        program.kind,
        seed,
        tuple(expected.code for expected in accepted),
        tuple(fault.cause for fault in diagnosis.faults),
        bool(diagnosis.faults),
        0 in ranks,
        any(rank < 3 for rank in ranks),
        any(rank < 3 and _at(fault, expected) for rank, fault, expected in right),
        diagnosis.faults[0].first_step if diagnosis.faults else None,
        tuple(dict.fromkeys(symptom.code for symptom in diagnosis.symptoms)),
        diagnosis.failures,
    )


def _at(fault: Fault, expected) -> bool:
    if fault.site is None:
        return False
    file = Path(fault.site.file).name
    return any(
        place.file.name == file and abs(place.line - fault.site.line) <= 1 for place in expected.places
    )


def evaluate(found: list[Program], seeds: int | None, verbose: bool) -> list[Score]:
    scores = []
    for program in found:
        for seed in range(seeds or program.seeds):
            path = run_of(program, seed)
            if path is None:
                continue
            diagnosis = diagnose(read_trace(path))
            made = score(program, seed, diagnosis)
            scores.append(made)
            good = not made.told if program.kind == "healthy" else made.first and made.line
            if verbose or not good or made.failures:
                _tell(made, program, diagnosis, verbose)
    return scores


def _tell(made: Score, program: Program, diagnosis: Diagnosis, verbose: bool) -> None:
    marks = (
        ""
        if program.kind == "healthy"
        else f" cause {'✓' if made.first else '✗'} line {'✓' if made.line else '✗'}"
    )
    print(f"\n{program.kind} {program.name} seed {made.seed}{marks}")
    for expected in program.causes:
        lines = ", ".join(f"{place.file.name}:{place.line}" for place in expected.places)
        print(f"  expected {expected.code} at {lines}")
    for fault in diagnosis.faults:
        print(
            f"  told     {fault.cause} {fault.confidence} at {fault.site and fault.site.short}: {fault.summary}"
        )
    for fault in diagnosis.suspects[:4]:
        print(f"  suspect  {fault.cause} {fault.confidence} at {fault.site and fault.site.short}")
    if verbose or not diagnosis.faults:
        for symptom in diagnosis.symptoms:
            print(f"  symptom  {symptom.code} {symptom.component} @{symptom.first_step}: {symptom.message}")
    for failure in diagnosis.failures:
        print(f"  FAILED   {failure}")


def summary(scores: list[Score]) -> None:
    faulty = [made for made in scores if made.kind == "faulty"]
    healthy = [made for made in scores if made.kind == "healthy"]
    if faulty:
        count = len(faulty)
        for title, good in (
            ("detected", sum(made.detected for made in faulty)),
            ("true cause at rank 1", sum(made.first for made in faulty)),
            ("true cause in the top 3", sum(made.third for made in faulty)),
            ("right line (±1)", sum(made.line for made in faulty)),
        ):
            print(f"{title:26} {good:4} of {count}  {good / count:6.1%}")
    if healthy:
        alarms = [made for made in healthy if made.told]
        print(f"{'false alarms':26} {len(alarms):4} of {len(healthy)}  {len(alarms) / len(healthy):6.1%}")
        for code, count in Counter(made.told[0] for made in alarms).most_common():
            print(f"  {code} {count}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=(*PARTS, "all"), default="calibration")
    parser.add_argument("--kind", choices=("healthy", "faulty"))
    parser.add_argument("--match", default="", help="only programs whose name contains this")
    parser.add_argument("--seeds", type=int, help="how many seeds, for every program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="record again what was recorded before")
    parser.add_argument("--recorded", action="store_true", help="judge what is recorded, record nothing")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", type=Path, help="write every score to this file")
    options = parser.parse_args()
    found = list(programs(None if options.part == "all" else options.part, options.kind, options.match))
    if not options.recorded:
        record_all(found, options.seeds, options.again, options.jobs)
    scores = evaluate(found, options.seeds, options.verbose)
    print()
    summary(scores)
    if options.json:
        options.json.write_text(json.dumps([asdict(made) for made in scores], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
