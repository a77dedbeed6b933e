"""Runs of graded mutants: what learned diagnosis is trained on. Healthy programs of the corpus with faults seeded into them.

python benchmarks/learned/generate.py                                  # from benchmarks/corpus/calibration/healthy
python benchmarks/learned/generate.py --set heldout                    # for reporting only
python benchmarks/learned/generate.py --match spiral --per-program 5   # a few programs
python benchmarks/learned/generate.py --dry                            # what would be trained

Every run lies below benchmarks/.learned-runs/<set>; index.jsonl there has one line for each. Work that was interrupted goes on
where it was: a run is found again by the content of its program.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from choosing import pairs, singles
from diagnose_corpus import programs
from harm import judged
from listing import list_them
from subjects import OVERHEAD, SEEDS, WORK, Progress, Subject, observe, subject_of, trial_of

from netmend.mutate.mutation import (
    OPERATORS,
    Mutation,
    changed_lines,
    relative_lines,
)
from netmend.trials.local import LocalExecutor
from netmend.trials.trial import FAILED, Outcome, Trial

BROKEN = "broken"  # status of a mutant that fails in another way than its fault would: nothing can be learned from it


def row(
    subject: Subject, trial: Trial, outcome: Outcome, mutations: tuple[Mutation, ...]
) -> dict[str, object]:
    """One line of the index."""
    known = OPERATORS.classes()
    units = [known[each.operator] for each in mutations]
    judgement = judged(
        outcome,
        subject.originals,
        any(unit.crashes for unit in units),
        any(unit.rescales for unit in units),
    )
    base = WORK / subject.program.part
    return {
        "set": subject.program.part,
        "program": subject.program.name,
        "id": subject.runner.place(trial).name,
        "seed": trial.seed,
        "mutations": [described(each, mutations, subject.root) for each in mutations],
        "run": os.path.relpath(outcome.run, base) if outcome.run else "",
        "status": BROKEN if outcome.status == FAILED and judgement.harmed is None else outcome.status,
        "metric": judgement.metric,
        "original_metric": judgement.original,
        "harmed": judgement.harmed if mutations else False,
        "exception": outcome.exception,
    }


def described(each: Mutation, among: tuple[Mutation, ...], root: str) -> dict[str, object]:
    others = [other.edits for other in among if other is not each]
    lines = relative_lines(changed_lines(each.edits, others), root)
    return {
        "operator": each.operator,
        "cause": each.cause,
        "title": each.title,
        "component": each.component,
        "lines": [list(line) for line in lines],
    }


def trained(subject: Subject, wanted: list[tuple[Mutation, ...]]) -> list[tuple[tuple[Mutation, ...], dict]]:
    """Mutants and their lines of the index."""
    both = [(mutations, trial) for mutations in wanted if (trial := trial_of(subject, mutations)) is not None]
    outcomes = subject.runner.run([trial for _, trial in both])
    return [
        (mutations, row(subject, trial, outcome, mutations))
        for (mutations, trial), outcome in zip(both, outcomes, strict=True)
    ]


def rows_of(subject: Subject, chosen: list[Mutation], count: int) -> list[dict]:
    """All runs of one program: originals, single faults, pairs of faults that do harm alone."""
    target = subject.runner.target
    found = [
        row(subject, Trial(target, seed=seed, overhead=OVERHEAD), outcome, ())
        for seed, outcome in zip(SEEDS, subject.originals, strict=True)
    ]
    alone = trained(subject, [(each,) for each in chosen])
    harmful = [mutations[0] for mutations, line in alone if line["harmed"]]
    together = trained(subject, list(pairs(subject.program.name, harmful, count)))
    return found + [line for _, line in (*alone, *together)]


def write(rows: list[dict], file: Path) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text("".join(f"{json.dumps(each)}\n" for each in rows), encoding="utf-8")
    temporary.replace(file)


def kept(file: Path, names: set[str]) -> list[dict]:
    """Lines of an earlier run that are about other programs and whose runs are still there."""
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [each for each in lines if each["program"] not in names and (file.parent / each["run"]).exists()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=("calibration", "heldout"), default="calibration")
    parser.add_argument("--match", default="", help="a part of the programs' names")
    parser.add_argument("--per-program", type=int, default=20, help="single faults of each program")
    parser.add_argument("--pairs", type=int, default=4, help="pairs of faults of each program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dry", action="store_true", help="list the mutants, train only the originals once")
    parser.add_argument("--diffs", action="store_true", help="with --dry: show the edits")
    options = parser.parse_args()
    wanted = list(programs(options.set, "healthy", options.match))
    if not wanted:
        raise SystemExit(f"no healthy program of {options.set} has {options.match!r} in its name")
    seeds = SEEDS[:1] if options.dry else SEEDS
    each = len(SEEDS) + (0 if options.dry else options.per_program + options.pairs)
    progress, executor = Progress(len(wanted) * each), LocalExecutor(options.jobs)
    try:
        subjects = [
            subject
            for program in wanted
            if observe(subject := subject_of(program, executor, progress), seeds)
        ]
        chosen = singles({s.program.name: s.mutations for s in subjects}, options.per_program)
        if options.dry:
            list_them(subjects, chosen, options.diffs)
            return
        index = WORK / options.set / "index.jsonl"
        rows = kept(index, {program.name for program in wanted})
        for subject in subjects:
            rows += rows_of(subject, chosen[subject.program.name], options.pairs)
            write(rows, index)
    finally:
        executor.close()
    sys.stderr.write("\n")
    harmed = Counter(str(each["harmed"]) for each in rows if each["mutations"])
    print(f"{len(rows)} runs in {index}; mutants harmed: {dict(harmed)}")


if __name__ == "__main__":
    main()
