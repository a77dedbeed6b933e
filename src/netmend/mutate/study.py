"""The study itself: originals, what can be done to the program, every mutant judged on every set, scores."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from netmend.changes.case import Case
from netmend.errors import UsageError
from netmend.mutate.choice import Chosen, Estimate, chosen, estimate
from netmend.mutate.judging import Judge, Trained
from netmend.mutate.laboratory import Interrupted, Laboratory, Run, seeds_of
from netmend.mutate.magnitude import Knob
from netmend.mutate.mutation import Mutation, changed_lines, relative_lines, texts_of
from netmend.mutate.options import MutateOptions
from netmend.mutate.result import SOURCE, Mutant, Turned
from netmend.mutate.scoring import standing_of
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.verdicts import scores_verdict
from netmend.program.text.sources import Sources
from netmend.store import read_trace
from netmend.trials.runner import at_once
from netmend.trials.workspace import relocated

_SAME_SCORE = 1e-9

Told = Callable[[str], None]  # what is being done


@dataclass
class Study:
    """Everything that is known so far; after an interruption, what was found until then."""

    laboratory: Laboratory
    options: MutateOptions
    told: Told
    originals: list[Run] = field(default_factory=list)
    choice: Chosen | None = None
    estimate: Estimate | None = None
    judge: Judge | None = None
    paired: bool = True
    found: dict[int, list[Mutant]] = field(default_factory=dict)  # by position in the list of faults
    searched: dict[int, Turned] = field(default_factory=dict)
    runs: dict[str, list[Run]] = field(default_factory=dict)  # of mutants, by name
    problems: list[str] = field(default_factory=list)

    @property
    def seeds(self) -> tuple[int, ...]:
        return seeds_of(self.options.how_much.pairs[-1], self.options.repetition)

    @property
    def sets(self) -> tuple[str, ...]:
        return (TRAINING, *(each.name for each in self.laboratory.sets))

    # -- the original --------------------------------------------------------------------------------------------

    def begin(self) -> Estimate:
        """Train the program as it is, find what can be done to it, and say what that will cost."""
        self.told("training the original program")
        first = self.laboratory.original(self.seeds[0])
        refuse_failure(first)
        self.laboratory.baseline = first.outcome
        assert first.examined is not None
        for part in self.laboratory.subsets:
            if not len(self.laboratory.index(part, first.examined)):
                raise UsageError(
                    f"--subset {part.name}: no input of {part.of} is left; choose classes that it has"
                )
        self.problems += [f"examining the model: {note}" for note in first.examined.notes]
        self.originals = [first]
        self.choice = chosen(self._case(first), self.options.how_much, self.options.operators, self.problems)
        if not self.choice.operators:
            raise UsageError(
                "no operator finds anything to change in this program; is the training loop in its own files?"
            )
        profile, scales = self.options.how_much, [knob.scale for knob in self.choice.knobs]
        jobs = self.laboratory.runner.executor.jobs
        listed, operators = len(self.choice.singles), len(self.choice.operators)
        self.estimate = estimate(
            operators, listed, scales, len(self.sets), profile, first.outcome.seconds, jobs
        )
        return self.estimate

    def _case(self, run: Run) -> Case:
        outcome = run.outcome
        if not outcome.run:
            raise UsageError("nothing was recorded of the program; does it train with PyTorch?")
        trace = relocated(read_trace(Path(outcome.run)), outcome)
        sources = Sources.of(trace)
        return Case(trace, sources, arguments=self.laboratory.runner.target.arguments)

    def train_originals(self) -> None:
        """All seeds, and the first one twice: pairs of runs mean something only if a training can be repeated."""
        self.told("training originals")
        self.originals = self.laboratory.originals(self.seeds)
        for run in self.originals:
            refuse_failure(run)
        again = self.laboratory.original(self.seeds[0], repeat=True)
        scores = [
            [self.laboratory.score(run, test) for test in self.sets] for run in (self.originals[0], again)
        ]
        if any(abs(one - other) > _SAME_SCORE for one, other in zip(*scores, strict=True)):
            self.paired = False
            self.problems.append(
                f"the program does not repeat itself: trained twice with the same seed it scores {_words(scores[0])} and "
                f"{_words(scores[1])}; runs are compared as two groups instead of pairs, which needs more of them"
            )
        looks = replace(self.options.how_much.looks, paired=self.paired)
        self.judge = Judge(self.laboratory, self.originals, self.seeds, looks, self.sets)
        self._refuse_noise()

    def _refuse_noise(self) -> None:
        """A program whose trainings differ as much as from a constant prediction: no fault could be seen in it."""
        assert self.judge is not None
        scores = self.judge.original_scores(TRAINING)
        levels = [run.examined.constant(TRAINING) if run.examined else None for run in self.originals]
        known = [level for level in levels if level is not None]
        if len(known) < len(levels):
            return
        found = scores_verdict(scores, known, higher_is_better=self.judge.higher_is_better, paired=False)
        if not found.killed:
            raise UsageError(
                f"the program is not deterministic enough, or learns nothing: over {len(scores)} seeds it scores {_words(scores)} "
                f"on its own training data, and an answer that never looks at the input {_words(known)}. Run `netmend run` on it "
                "first, or train longer."
            )

    # -- mutants -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """All faults, as many at once as there are processes. Each one's outcome depends on nothing but itself."""
        assert self.choice is not None
        faults: list[Knob | Mutation] = [*self.choice.knobs, *self.choice.singles]
        faults.sort(key=lambda fault: fault.operator)
        self.told("training mutants")
        lock = threading.Lock()

        def one(number: int) -> None:
            fault = faults[number]
            made: list[Mutant] = []
            turned = None
            if isinstance(fault, Knob):
                turned = self._turned(fault, made)
            else:
                assert self.judge is not None
                made.append(self._mutant(self.judge.single(fault)))
            with lock:
                self.found[number] = made
                if turned is not None:
                    self.searched[number] = turned

        try:
            at_once(one, range(len(faults)), self.laboratory.runner.executor.jobs, self.laboratory.stop)
        except Interrupted:
            raise KeyboardInterrupt from None

    def _turned(self, knob: Knob, made: list[Mutant]) -> Turned:
        assert self.judge is not None
        found = self.judge.turned(knob, lambda trained: made.append(self._mutant(trained, knob)))
        made.sort(key=lambda mutant: knob.scale.position(mutant.value or 0.0))
        return Turned(knob.operator, knob.title, knob.scale, found)

    def _mutant(self, trained: Trained, knob: Knob | None = None) -> Mutant:
        judge, mutation = self.judge, trained.mutation
        assert judge is not None and self.laboratory.baseline is not None
        root = self.laboratory.baseline.root
        trivial = judge.triviality(trained)
        lines = relative_lines(changed_lines(mutation.edits), root)
        name = f"{mutation.operator} {mutation.title}"
        if mutation.component:
            name += f" ({mutation.component})"
        self.runs[name] = list(trained.runs)
        reasons = {verdict.reason for verdict in trained.verdicts.values()}
        return Mutant(
            name=name,
            operator=mutation.operator,
            cause=mutation.cause,
            title=mutation.title,
            level=SOURCE,
            standing=standing_of(trained.verdicts[TRAINING], trivial),
            runs=len(trained.runs),
            verdicts=dict(trained.verdicts),
            scores=judge.scores(trained),
            triviality=trivial,
            value=mutation.value,
            knob="" if knob is None else knob.title,
            place=":".join(map(str, lines[0])) if lines else "",
            patch=patch(mutation, root),
            note=trained.crash or ("" if trained.has_effect else reasons.pop()),
        )

    @property
    def mutants(self) -> list[Mutant]:
        return [mutant for number in sorted(self.found) for mutant in self.found[number]]

    @property
    def turned(self) -> list[Turned]:
        return [self.searched[number] for number in sorted(self.searched)]


def patch(mutation: Mutation, root: str) -> str:
    """What the mutant changes, as a unified diff."""
    lines: list[str] = []
    for name, text in (texts_of(mutation.edits, root) or {}).items():
        old = (Path(root) / name).read_text(encoding="utf-8", errors="replace")
        both = (old.splitlines(), text.splitlines())
        lines += difflib.unified_diff(*both, f"a/{name}", f"b/{name}", lineterm="", n=2)
    return "\n".join(lines)


def refuse_failure(run: Run) -> None:
    if not run.outcome.ran:
        told = run.failure
        if told.startswith("UsageError: "):
            raise UsageError(told.partition(": ")[2])
        raise UsageError(
            f"the program itself does not train to its end ({told}), so nothing can be compared with it; "
            "`netmend run` tells what is wrong"
        )
    if run.failure:
        raise UsageError(run.failure)


def _words(scores: Sequence[float]) -> str:
    return ", ".join(f"{score:.4g}" for score in scores)
