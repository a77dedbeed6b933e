"""Mutation testing over three programs: does every operator make mutants, do weak test sets score less, are verdicts the same again?

python benchmarks/mutation_study.py                                      # all programs, one repetition, one process
python benchmarks/mutation_study.py --match moons --repetitions 5        # other seeds each time: how stable are verdicts?
python benchmarks/mutation_study.py --match moons --repetitions 5 --same-seeds   # the same command again, everything trained anew
python benchmarks/mutation_study.py --profile standard --jobs 4

Trainings lie below benchmarks/.mutation-runs and are made once: interrupted work goes on where it was. The result file
(benchmarks/results/mutation-study.json) is written after every program.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

from netmend.mutate.options import MutateOptions
from netmend.mutate.result import SOURCE, MutationResult
from netmend.mutate.scoring import COUNTED
from netmend.mutate.session import INTERRUPTED, Stage, mutate
from netmend.mutate.test_sets import TRAINING
from netmend.trials.trial import Target

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "mutation_programs"
WORK = HERE / ".mutation-runs"
RESULT = HERE / "results" / "mutation-study.json"
SUBSETS = {  # what weakens the program's own test set: classes removed, few inputs
    "digits_convnet": (
        "three classes=test:classes=0,1,2",
        "one class=test:classes=0",
        "20 inputs=test:first=20",
    ),
    "two_moons": (
        "one class=test:classes=0",
        "20 inputs=test:first=20",
        "5 inputs=test:first=5",
        "2 inputs=test:first=2",
    ),
    "house_prices": ("20 inputs=test:first=20", "5 inputs=test:first=5", "2 inputs=test:first=2"),
}


def studied(name: str, options: argparse.Namespace, repetition: int) -> MutationResult:
    folder = WORK / "programs" / name
    folder.mkdir(parents=True, exist_ok=True)
    source = PROGRAMS / name / "train.py"
    copy = folder / "train.py"
    if not copy.exists() or copy.read_bytes() != source.read_bytes():
        shutil.copy(source, copy)
    chosen = MutateOptions(
        subsets=SUBSETS[name],
        profile=options.profile,
        operators=tuple(options.operators.split(",")) if options.operators else (),
        jobs=options.jobs,
        directory=WORK / (f"{name}-again-{repetition}" if options.same_seeds else name),
        repetition=0 if options.same_seeds else repetition,
    )

    def told(stage: Stage) -> None:
        words = f"{name} {repetition}: {stage.doing}, {stage.faults} of {stage.of} faults, {stage.trainings} trainings"
        sys.stderr.write(f"\r{words}   ")

    return mutate(Target("train.py", (), False, str(folder)), chosen, told)


def summary(found: MutationResult) -> dict:
    own = [mutant for mutant in found.mutants if mutant.level == SOURCE]
    return {
        "operators_applicable": None if found.estimate is None else found.estimate.operators,
        "operators": sorted({mutant.operator for mutant in own}),
        "weight_operators": sorted({mutant.operator for mutant in found.mutants if mutant.level != SOURCE}),
        "mutants": len(own),
        "standings": dict(Counter(mutant.standing for mutant in own)),
        "originals_on_training_data": found.training,
        "sets": [
            {
                "name": each.name,
                "inputs": each.inputs,
                "score": each.source.score,
                "killed": each.source.killed,
                "killable": each.source.killable,
                "sensitivity": each.sensitivity,
                "weights_score": None if each.weights is None else each.weights.score,
                "additions": [addition.what for addition in each.additions[:5]],
            }
            for each in found.sets
        ],
        "trainings": found.trainings + found.cached,
        "mean_runs": sum(mutant.runs for mutant in own) / max(1, len(own)),
        "seconds_of_training": round(found.seconds, 1),
        "estimate": None if found.estimate is None else [found.estimate.least, found.estimate.most],
        "problems": found.problems,
        "stopped": found.stopped,
    }


def agreement(found: list[MutationResult]) -> dict:
    """Of all pairs of repetitions: the share of equal verdicts, over mutants that both have trained, and all sets."""
    rows = []  # equal?, counted?, clear?
    for one, other in combinations(found, 2):
        its = {mutant.name: mutant for mutant in other.mutants if mutant.level == SOURCE}
        for mutant in one.mutants:
            twin = its.get(mutant.name) if mutant.level == SOURCE else None
            if twin is None:
                continue
            for test in {TRAINING, *mutant.verdicts}:
                equal = mutant.is_killed(test) == twin.is_killed(test)
                counted = COUNTED in (mutant.standing, twin.standing)
                rows.append((equal, counted, mutant.is_clear(test) and twin.is_clear(test)))
    clear = [
        mutant.is_clear(test)
        for one in found
        for mutant in one.mutants
        if mutant.level == SOURCE
        for test in mutant.verdicts
    ]
    return {
        "repetitions": len(found),
        "verdicts_compared": len(rows),
        "stability": _share([equal for equal, _, _ in rows]),
        "stability_of_counted": _share([equal for equal, counted, _ in rows if counted]),
        "stability_of_clear": _share([equal for equal, _, clear in rows if clear]),
        "clear": _share(clear),
    }


def _share(which: list[bool]) -> float | None:
    return sum(which) / len(which) if which else None


def row_of(found: list[MutationResult], options: argparse.Namespace, seconds: float, before: dict) -> dict:
    if options.same_seeds:  # beside what is known with other seeds
        return {**before, "again": agreement(found)}
    known = {"again": before["again"]} if "again" in before else {}
    return {
        "profile": options.profile,
        "wanted_operators": options.operators or "all",
        **summary(found[0]),
        **agreement(found),
        "scores_by_repetition": {
            each.name: [other.source.score for one in found for other in one.sets if other.name == each.name]
            for each in found[0].sets
        },
        "wall_seconds": round(seconds, 1),
        **known,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--match", default="", help="a part of the programs' names")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--operators", default="")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument(
        "--same-seeds", action="store_true", help="train everything anew, with the same seeds"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--result", type=Path, default=RESULT)
    options = parser.parse_args()
    rows = json.loads(options.result.read_text()) if options.result.exists() else {}
    for name in sorted(SUBSETS):
        if options.match not in name:
            continue
        begun, found = time.monotonic(), []
        for repetition in range(options.repetitions):
            found.append(studied(name, options, repetition))
            if found[-1].stopped == INTERRUPTED:
                raise SystemExit("interrupted; the same command goes on from here")
            rows[name] = row_of(found, options, time.monotonic() - begun, rows.get(name, {}))
            options.result.write_text(json.dumps(rows, indent=1) + "\n")
    sys.stderr.write("\n")
    for name, row in rows.items():
        if "sets" not in row:
            print(f"{name}: {row['again']}")
            continue
        print(f"{name}: {len(row['operators'])} operators, {row['mutants']} mutants, {row['standings']}")
        for each in row["sets"]:
            print(
                f"   {each['name']:14} {each['inputs']:5} inputs  score {each['score']}  sensitivity {each['sensitivity']}"
            )
        print(
            f"   over {row['repetitions']} repetitions: stability {row['stability']}, of clear verdicts {row['stability_of_clear']}"
            f" ({row['clear']} are clear)"
        )


if __name__ == "__main__":
    main()
