"""Does a program get better when one follows the advice to the letter? Applies the edit told first, nothing else, and trains again.

python benchmarks/advice.py --part calibration            # a stratified sample, program by program
python benchmarks/advice.py --part heldout                # totals only: nothing that shows a single program
python benchmarks/advice.py --told                        # trains nothing: what is told, with its edit

Programs that the run is silent about have no advice and are counted apart. A training ends with the program's own measure as `netmend repair` finds
it; a change helps when a tenth of the error or more goes away on average over the seeds, or when what crashed runs to its end. Where the known fix
itself does not better the measure (memory, samples that were trained on and tested with), advice helps when it ends where the known fix does and its
cause is told no more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from diagnose_corpus import Program, programs, record_all, run_of
from repair import folder_of
from repair_score import reference_of

from netmend.check.of_run import findings_of_run
from netmend.localise import diagnose
from netmend.repair.advise import with_edits
from netmend.repair.objective import choose
from netmend.repair.version import Version
from netmend.store import read_trace
from netmend.trials.local import LocalExecutor
from netmend.trials.runner import Runner
from netmend.trials.trial import Limits, Outcome, Target, Trial
from netmend.vocabulary import Fault, RunFact
from netmend.vocabulary.change import Change, FileEdit
from netmend.vocabulary.facts import KIND_OF_FACT

RESULTS = Path(__file__).parent / "results"
CLEAR = 0.1  # of the error: less is the noise of a few seeds
HELPS, NOTHING, HARMS, CRASHES, NO_EDIT, SILENT = (
    "helps",
    "no change",
    "harms",
    "crashes",
    "no edit",
    "silent",
)
CLASSIC = "classic"  # one cause; the others have several or are whole projects


@dataclass(frozen=True)
class Followed:
    """One program, and what came of following what was told first."""

    name: str
    group: str
    expected: tuple[str, ...]
    told: str = ""
    edit: str = ""
    verdict: str = SILENT
    gain: float | None = None
    seeds: int = 0


def first_told(program: Program) -> Fault | None:
    """The fault told first of the recorded run, with its edit."""
    path = run_of(program, 0)
    if path is None:
        return None
    trace = read_trace(path)
    # The corpus may have been copied since it was recorded: when its files were written says nothing.
    run = replace(trace.run, started=0.0)
    findings = findings_of_run(run)
    trace = replace(trace, facts={**trace.facts, KIND_OF_FACT[RunFact]: {"": run}})
    diagnosis = with_edits(diagnose(trace, findings=findings), trace, findings, seconds=60.0)
    return next(iter(diagnosis.faults), None)


def follow(program: Program, seeds: int, executor: LocalExecutor) -> Followed:
    expected = tuple(cause.code for cause in program.causes)
    group = (
        CLASSIC
        if len(expected) == 1 and not set(program.entry.parts) & {"multi", "later", "everyday"}
        else "realistic"
    )
    made = Followed(program.name, group, expected)
    fault = first_told(program)
    if fault is None:
        return made
    made = replace(made, told=fault.cause, seeds=seeds)
    if fault.edit is None:
        return replace(made, verdict=NO_EDIT)
    made = replace(made, edit=fault.edit.title)
    folder = folder_of(program)
    start = str(Path(read_trace(run_of(program, 0)).run.working_directory))  # type: ignore[arg-type]
    edits = tuple(
        FileEdit(str(folder / Path(item.file).relative_to(start)), item.edit) for item in fault.edit.edits
    )
    change = Change("", fault.cause, fault.edit.title, edits, arguments=fault.edit.arguments)
    version = Version({}, ()).extended(change, str(folder), str(folder))
    if version is None:
        return replace(made, verdict=NO_EDIT)
    target = Target(program.entry.name, (), False, str(folder))
    runner = Runner(target, folder / ".netmend" / "trials", executor, Limits(seconds=300.0))
    texts = tuple(sorted(version.texts.items()))
    after_target = replace(target, arguments=version.current_arguments)
    reference = reference_of(program)
    pattern = reference.pattern if reference is not None else ""
    numbers = range(101, 101 + seeds)
    before = runner.run([Trial(target, (), seed, pattern=pattern) for seed in numbers])
    after = runner.run([Trial(after_target, texts, seed, pattern=pattern) for seed in numbers])
    verdict, gain = judged(before, after, reference.metric if reference is not None else None)
    if verdict in (NOTHING, HARMS) and reference is not None and reference.texts:
        fixed = runner.run(
            [Trial(target, tuple(sorted(reference.texts.items())), numbers[0], pattern=pattern)]
        )
        known, _ = judged(before[:1], fixed, reference.metric)
        beside, _ = judged(fixed, after[:1], reference.metric)
        cured = all(fault.cause not in outcome.faults for outcome in after)
        if known in (NOTHING, HARMS) and beside in (HELPS, NOTHING):
            verdict = HELPS if cured else NOTHING
    return replace(made, verdict=verdict, gain=gain)


def judged(before: list[Outcome], after: list[Outcome], metric) -> tuple[str, float | None]:
    """The verdict and the mean share of the error that went away."""
    if any(new.status == "failed" and old.status != "failed" for old, new in zip(before, after, strict=True)):
        return CRASHES, None
    if any(not old.ran for old in before):
        return (HELPS if all(new.ran for new in after) else NOTHING), None
    if any(not new.ran for new in after):
        return CRASHES, None
    objective = metric or choose([*before, *after])
    if objective is None:
        return NOTHING, None
    old = [objective.value(outcome) for outcome in before]
    new = [objective.value(outcome) for outcome in after]
    if any(value is None for value in new):
        return (HARMS if all(value is not None for value in old) else NOTHING), None
    if any(value is None for value in old):
        return HELPS, None
    gain = objective.gain(statistics.mean(old), statistics.mean(new))  # type: ignore[type-var]
    return HELPS if gain >= CLEAR else HARMS if gain <= -CLEAR else NOTHING, round(gain, 3)


def sample(found: list[Program], most: int) -> list[Program]:
    """One program of each cause in turn, until there are enough: frequent causes do not crowd out the rare ones."""
    by_cause: defaultdict[str, list[Program]] = defaultdict(list)
    for program in found:
        by_cause[program.causes[0].code].append(program)
    chosen: list[Program] = []
    while by_cause and len(chosen) < most:
        for cause in sorted(by_cause):
            chosen.append(by_cause[cause].pop(0))
            if not by_cause[cause]:
                del by_cause[cause]
    return chosen[:most]


def summary(made: list[Followed]) -> None:
    for group in sorted({item.group for item in made}):
        advised = [item for item in made if item.group == group and item.verdict != SILENT]
        counts = Counter(item.verdict for item in advised)
        silent = sum(item.group == group and item.verdict == SILENT for item in made)
        print(f"{group}: {len(advised)} programs with a told fault ({silent} without)")
        for verdict in (HELPS, NOTHING, NO_EDIT, HARMS, CRASHES):
            share = counts[verdict] / max(1, len(advised))
            print(f"  {verdict:10} {counts[verdict]:4}  {share:6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("calibration", "heldout"), default="calibration")
    parser.add_argument("--match", default="", help="only programs whose name holds this")
    parser.add_argument("--most", type=int, default=60, help="how many programs, one of each cause in turn")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--told", action="store_true", help="train nothing: show what is told, with its edit")
    options = parser.parse_args()
    hidden = options.part == "heldout"
    found = sample(list(programs(options.part, "faulty", options.match)), options.most)
    if options.told and not hidden:
        for program in found:
            show(program)
        return
    record_all(found, 1, jobs=options.jobs)
    executor = LocalExecutor(1)  # each program's trainings one after another, programs side by side
    made: list[Followed] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for item in pool.map(lambda program: follow(program, options.seeds, executor), found):
            made.append(item)
            if hidden:
                sys.stderr.write(f"\r{len(made)} of {len(found)} ")
            else:
                told = f"{item.verdict:10} {item.gain!s:7} {item.name:40} {item.told:20} {item.edit}"
                print(told, flush=True)
    print()
    summary(made)
    if not options.match:
        kept = [
            {key: value for key, value in asdict(item).items() if not hidden or key in ("group", "verdict")}
            for item in made
        ]
        kept = sorted(kept, key=lambda item: (item["group"], item["verdict"])) if hidden else kept
        file = RESULTS / f"advice-{options.part}.json"
        file.write_text(json.dumps({"seeds": options.seeds, "programs": kept}, indent=1), encoding="utf-8")


def show(program: Program) -> None:
    fault = first_told(program)
    right = fault is not None and any(fault.cause in cause.accept for cause in program.causes)
    print(f"\n=== {program.name}: {', '.join(cause.code for cause in program.causes)}")
    if fault is None:
        print("  silent")
        return
    print(f"  {fault.cause} {fault.confidence} {'right' if right else 'OTHER'}: {fault.remedy}")
    print("  NO EDIT" if fault.edit is None else f"  {fault.edit.title}")
    if fault.edit is not None:
        changed = [
            line
            for line in fault.edit.diff.splitlines()
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        print("\n".join(f"    {line}" for line in changed), fault.edit.arguments or "")


if __name__ == "__main__":
    main()
