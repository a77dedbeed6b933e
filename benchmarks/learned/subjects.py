"""Healthy programs as subjects of mutation: each in a folder of its own, trained as it is, with all that can be done to it."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from choosing import drawn
from diagnose_corpus import Program

from netmend.mutate.mutation import Mutation, combined, every, texts_of
from netmend.program.text.sources import Sources
from netmend.repair.repair import Case
from netmend.store import read_trace
from netmend.trials.local import LocalExecutor
from netmend.trials.runner import Runner
from netmend.trials.trial import Limits, Outcome, Target, Trial
from netmend.trials.workspace import relocated

WORK = Path(__file__).resolve().parent.parent / ".learned-runs"
SEEDS = (0, 1, 2)
# The operators that the recorded runs were drawn from; others would change the draw.
RECORDED = frozenset(
    {
        "M101", "M102", "M103", "M104", "M105", "M106", "M107", "M108", "M109", "M110", "M201", "M202",
        "M203", "M204", "M205", "M206", "M301", "M302", "M303", "M304", "M401", "M402", "M411", "M412",
        "M413", "M414", "M415", "M416", "M417", "M418", "M419", "M501", "M502", "M503", "M504", "M505",
        "M506", "M507", "M508", "M509", "M601", "M602", "M603", "M604", "M605", "M606", "M607", "M608",
        "M609", "M610", "M611",
    }
)  # fmt: skip
OVERHEAD = 0.01  # as `netmend run` watches by itself
_GRACE, _PATIENCE = 20.0, 6.0  # seconds, and times the original's: longer than that a mutant hangs


@dataclass
class Subject:
    """A healthy program, its trials, and what can be done to it."""

    program: Program
    runner: Runner
    originals: list[Outcome] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.originals[0].root


@dataclass
class Progress:
    total: int
    done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        self.done += 1
        each = (time.monotonic() - self.begun) / self.done
        left = each * max(0, self.total - self.done)
        sys.stderr.write(f"\r{self.done} of about {self.total} runs, about {left / 60:.1f} minutes left   ")


def subject_of(program: Program, executor: LocalExecutor, progress: Progress) -> Subject:
    """The program in a folder of its own, as its author would have it."""
    base = WORK / program.part
    folder = base / "programs" / program.name
    own = program.entry.parent.name == program.name
    for file in program.entry.parent.rglob("*") if own else [program.entry]:
        if file.is_file() and "__pycache__" not in file.parts:
            target = folder / file.relative_to(program.entry.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != file.read_bytes():
                shutil.copy(file, target)
    target_program = Target(program.entry.name, (), False, str(folder))
    limits = Limits(seconds=180.0)
    return Subject(
        program, Runner(target_program, base / "trials" / program.name, executor, limits, progress.tell)
    )


def observe(subject: Subject, seeds: tuple[int, ...]) -> bool:
    """Train the original and find out what can be done to it; False where it does not run."""
    trials = [Trial(subject.runner.target, seed=seed, overhead=OVERHEAD) for seed in seeds]
    subject.originals = subject.runner.run(trials)
    first = subject.originals[0]
    if not all(outcome.ran for outcome in subject.originals) or not first.run:
        broken = next((outcome for outcome in subject.originals if not outcome.ran), first)
        sys.stderr.write(
            f"\n{subject.program.name}: left out, the original {broken.status}: {broken.exception}\n"
        )
        return False
    trace = relocated(read_trace(Path(first.run)), first)
    sources = Sources(trace.run.working_directory, trace.run.script)
    problems: list[str] = []
    subject.mutations = every(Case(trace, sources), problems, RECORDED)
    for problem in problems:
        sys.stderr.write(f"\n{subject.program.name}: {problem}\n")
    return True


def trial_of(subject: Subject, mutations: tuple[Mutation, ...]) -> Trial | None:
    edits = combined(mutations)
    texts = None if edits is None else texts_of(edits, subject.root)
    if texts is None:
        return None
    first = subject.originals[0]
    seed = SEEDS[drawn(subject.program.name, *(each.title for each in mutations)) % len(SEEDS)]
    limits = Limits(seconds=_GRACE + _PATIENCE * max(first.seconds, 1.0))
    return Trial(subject.runner.target, tuple(sorted(texts.items())), seed, limits=limits, overhead=OVERHEAD)
