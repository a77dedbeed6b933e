"""How well does netmend diagnose? Runs the corpus and prints detection, cause, line and false alarms.

python benchmarks/diagnose.py --part calibration            # while working on detectors
python benchmarks/diagnose.py --part heldout                # the figures that count
python benchmarks/diagnose.py --match softmax --verbose     # some programs, with what was said
python benchmarks/diagnose.py --group multi                 # several causes at once, mild ones, and the same programs mended
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from diagnose_corpus import Expected, Program, programs, record_all, run_of

from netmend.check.of_run import findings_of_run
from netmend.localise import diagnose
from netmend.store import read_trace
from netmend.vocabulary import Diagnosis, Fault, Finding, RunFact


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
    recalled: int = 0  # of the expected causes: told at any rank
    right: int = 0  # of the told faults: name an expected cause


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
        _most_matched(diagnosis.faults, accepted),
        len(set(ranks)),
    )


def _most_matched(faults: tuple[Fault, ...], causes: tuple[Expected, ...]) -> int:
    """How many causes are told, each told fault standing for one of them at most: "softmax" may be accepted for two."""
    fits = [
        [index for index, expected in enumerate(causes) if fault.cause in expected.accept] for fault in faults
    ]
    holder: dict[int, int] = {}

    def place(number: int, tried: set[int]) -> bool:
        for index in fits[number]:
            if index not in tried:
                tried.add(index)
                if index not in holder or place(holder[index], tried):
                    holder[index] = number
                    return True
        return False

    return sum(place(number, set()) for number in range(len(faults)))


def _at(fault: Fault, expected: Expected) -> bool:
    if fault.site is None:
        return False
    file = Path(fault.site.file).name
    return any(
        place.file.name == file and abs(place.line - fault.site.line) <= 1 for place in expected.places
    )


def evaluate(
    found: list[Program], seeds: int | None, verbose: bool, with_findings: bool = True
) -> list[Score]:
    scores = []
    for program in found:
        findings = _findings(program) if with_findings else ()
        for seed in range(seeds or program.seeds):
            path = run_of(program, seed)
            if path is None:
                continue
            diagnosis = diagnose(read_trace(path), findings=findings)
            made = score(program, seed, diagnosis)
            scores.append(made)
            whole = made.recalled == len(made.expected) and made.right == len(made.told)
            good = not made.told if program.kind == "healthy" else made.first and made.line and whole
            shown = program.part != "heldout" and not good  # of the held-out part totals only, unless asked
            if verbose or shown or made.failures:
                _tell(made, program, diagnosis, verbose)
    return scores


def _findings(program: Program) -> tuple[Finding, ...]:
    """What `netmend check` says about the program, as `netmend run` asks it."""
    # The corpus may have been copied after it was recorded, so the time of the file says nothing.
    return findings_of_run(RunFact("", program.entry.name, working_directory=str(program.entry.parent)))


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
        several = [made for made in faulty if len(made.expected) > 1]
        for title, chosen in (("all programs", faulty), ("several causes at once", several)):
            _causes(title, chosen)
    if healthy:
        alarms = [made for made in healthy if made.told]
        print(f"{'false alarms':26} {len(alarms):4} of {len(healthy)}  {len(alarms) / len(healthy):6.1%}")
        for code, count in Counter(made.told[0] for made in alarms).most_common():
            print(f"  {code} {count}")


def _causes(title: str, chosen: list[Score]) -> None:
    """Of all causes, how many were told; of all that was told, how much is right."""
    expected, told = sum(len(made.expected) for made in chosen), sum(len(made.told) for made in chosen)
    if not expected:
        return
    recalled, right = sum(made.recalled for made in chosen), sum(made.right for made in chosen)
    print(f"{title} ({len(chosen)})")
    print(f"  {'causes recalled':24} {recalled:4} of {expected}  {recalled / expected:6.1%}")
    print(f"  {'told causes right':24} {right:4} of {told}  {right / max(1, told):6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("calibration", "heldout", "all"), default="calibration")
    parser.add_argument("--kind", choices=("healthy", "faulty"))
    parser.add_argument("--match", default="", help="only programs whose name contains this")
    parser.add_argument("--group", help="only programs of this folder of a part: multi")
    parser.add_argument("--seeds", type=int, help="how many seeds, for every program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="record again what was recorded before")
    parser.add_argument("--recorded", action="store_true", help="judge what is recorded, record nothing")
    parser.add_argument("--run-only", action="store_true", help="without the findings of `netmend check`")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", type=Path, help="write every score to this file")
    options = parser.parse_args()
    found = list(programs(None if options.part == "all" else options.part, options.kind, options.match))
    found = [
        program for program in found if program.part != "bugs21"
    ]  # those run from copies: `netmend bench`
    if options.group:
        found = [program for program in found if options.group in program.entry.parts]
    if not options.recorded:
        record_all(found, options.seeds, options.again, options.jobs)
    scores = evaluate(found, options.seeds, options.verbose, not options.run_only)
    print()
    summary(scores)
    if options.json:
        options.json.write_text(json.dumps([asdict(made) for made in scores], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
