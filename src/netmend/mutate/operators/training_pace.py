"""Faults of how long and how fast is trained: epochs, patience, batches, schedules of the rate."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.changes.case import Case
from netmend.changes.loop.batch_places import set_batch_size
from netmend.changes.loop.epoch_loop import epoch_rounds
from netmend.changes.loop.loop_code import loops_around, optimizer_at, spots, targets_of
from netmend.changes.loop.rate_places import set_setting
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.mutate.examples import FUNCTIONS, LOG_PROBABILITIES, PROBABILITIES, STACK, VALIDATED
from netmend.mutate.magnitude import Graded, Knob, Scale
from netmend.mutate.mutation import Mutation, Operator
from netmend.program.source.moving import moved_after
from netmend.program.source.naming import spelled
from netmend.program.source.numbers import number
from netmend.program.source.values import set_value
from netmend.program.source.writing import insert_after
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.testing.example import changed
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import FileEdits


class EpochsCut(Graded, code="M102", causes=("HYP-EPOCH-FEW",), published=("HNE",)):
    """Train for a small part of the epochs.

    The loss is still falling steeply when training ends.
    """

    shares: tuple[float, ...] = (0.25, 0.1, 0.04)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Rounds of training, from the program's own number down to 1."""
        rounds = epoch_rounds(case)
        bound = None if rounds is None else number(case.code, rounds.file, rounds.count, case.arguments)
        if rounds is None or bound is None or bound - rounds.start < 2:
            return
        code, file, count, start = case.code, rounds.file, rounds.count, rounds.start
        yield from self.knob(
            "fewer epochs",
            Scale(int(bound) - start, 1, 1, whole=True),
            lambda left: set_value(code, file, count, str(int(left) + start), case.arguments),
            told=f"{int(bound) - start} → {{}} epochs",
        )

    def values_for(self, knob: Knob) -> Iterable[float]:
        return dict.fromkeys(max(1, round(knob.scale.mildest * share)) for share in self.shares)

    EXAMPLES = {
        "a literal": changed(STACK, "range(⟨8 → 2⟩)"),
        "the default of an option": changed(FUNCTIONS, "default=⟨6 → 1⟩", nth=1),
    }


class BatchSizeChanged(
    Graded,
    code="M103",
    causes=("HYP-BATCH-SMALL", "HYP-BATCH-LARGE", "HYP-BATCH-NONE"),
    published=("HBS", "HDB"),
):
    """Train with batches that are far too small or far too large, or with all data at once.

    Tiny batches make gradients and the statistics of batch norm noisy; huge ones leave too few updates for the same
    number of epochs.
    """

    most_steps: int = 12_000  # of a run with tiny batches: more would take too long
    precision: float = 1.3  # ratio of two sizes that are told apart

    def propose(self, case: Case) -> Iterator[Mutation]:
        present, samples = batch_size(case.trace), training_samples(case.trace)
        if not present:
            return
        for size in (2, 1):
            if size * 4 <= present and case.trace.run.steps * present / size <= self.most_steps:
                yield from self._sized(case, present, size, "HYP-BATCH-SMALL")
        if samples is None or samples < 4 * present:
            return
        if samples >= 16 * present:
            yield from self._sized(case, present, present * 8, "HYP-BATCH-LARGE")
        yield from self._sized(case, present, samples, "HYP-BATCH-NONE")

    def _sized(self, case: Case, old: int, new: int, cause: str) -> Iterator[Mutation]:
        edits = set_batch_size(case, new)
        yield from self.mutation(f"batches of {old} → {new}", edits, cause=cause)

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Samples in a batch: from the program's own number down towards 1, and up to all samples."""
        present, samples = batch_size(case.trace), training_samples(case.trace)
        least = 1 if not present else max(1, -(-case.trace.run.steps * present // self.most_steps))
        for cause, title, extreme in (
            ("HYP-BATCH-SMALL", "smaller batches", least),
            ("HYP-BATCH-LARGE", "larger batches", samples or 0),
        ):
            is_smaller = cause == "HYP-BATCH-SMALL"
            if present and extreme and extreme != present and (extreme < present) == is_smaller:
                yield from self.knob(
                    title,
                    Scale(present, extreme, self.precision, logarithmic=True, whole=True),
                    lambda size: set_batch_size(case, int(size)),
                    cause=cause,
                    told=f"batches of {present} → {{}}",
                )

    EXAMPLES = {
        "of a loader": changed(STACK, "batch_size=⟨16 → 2⟩"),
        "the default of an option": changed(FUNCTIONS, "default=⟨10 → 1⟩", nth=1),
    }


_FALLING = ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR")


class SchedulePerBatch(Operator, code="M611", causes=("LOOP-SCHED-ORDER",)):
    """Step a schedule that counts epochs with every batch.

    The learning rate is gone after the first epochs.
    """

    def propose(self, case: Case) -> Iterator[Mutation]:
        schedulers = [each for each in case.trace.all(SchedulerFact) if each.kind in _FALLING]
        turns, steps = spots(case, "scheduler"), spots(case, "step")
        if len(schedulers) != 1 or len(turns) != 1 or len(steps) != 1:
            return
        turn, step = turns[0], steps[0]
        deeper = len(loops_around(step.file, step.call)) - len(loops_around(turn.file, turn.call))
        if turn.is_alone and step.is_alone and turn.is_beside(step) and deeper == 1:
            edits = moved_after(turn.file, turn.statement, step.statement)
            title = "the schedule is stepped with every batch"
            yield from self.mutation(title, edits, component=schedulers[0].name)

    EXAMPLES = {
        "counting epochs": changed(
            STACK, "        optimizer.step()\n    ⟨scheduler →     scheduler⟩.step()\n"
        ),
        "no schedule": changed(PROBABILITIES),
    }


_GAMMA = {"StepLR": 2, "MultiStepLR": 2, "ExponentialLR": 1}


class ScheduleTooFast(Graded, code="M108", causes=("HYP-LR-SCHED",)):
    """Decay the learning rate to nothing early in training.

    A schedule whose factor is far too small, or one that decays with every batch.
    """

    factors: tuple[float, ...] = (0.1, 0.01)
    decays: tuple[float, ...] = (0.95, 0.8)
    steepest: float = 0.001

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The schedule's factor down to 0.001; where there is none, the share that the rate loses with every batch, up to 0.2."""
        schedulers = case.trace.all(SchedulerFact)
        if schedulers:
            yield from self._factor(case, schedulers[0])
        if not schedulers and len(case.trace.optimizers) == 1:
            yield from self.knob(
                "the rate falls with every batch",
                Scale(1e-6, 1 - self.decays[-1], 2.0, logarithmic=True),
                lambda lost: _with_every_batch(case, 1 - lost),
                told=lambda lost: f"the rate falls by a factor of {1 - lost:g} with every batch",
            )

    def _factor(self, case: Case, scheduler: SchedulerFact) -> Iterator[Knob]:
        present = scheduler.settings.get("gamma")
        if scheduler.kind not in _GAMMA or not isinstance(present, int | float) or present <= self.steepest:
            return
        place = _GAMMA[scheduler.kind]
        yield from self.knob(
            f"smaller factor of {scheduler.kind}",
            Scale(float(present), self.steepest, 1.5, logarithmic=True),
            lambda factor: set_setting(case, scheduler.created, "gamma", f"{factor:.3g}", place),
            component=scheduler.name,
            told=f"{scheduler.kind} with gamma {present:g} → {{}}",
        )

    def values_for(self, knob: Knob) -> Iterable[float]:
        if knob.component:
            return [factor for factor in self.factors if factor * 2 <= knob.scale.mildest]
        return [1 - decay for decay in self.decays]

    EXAMPLES = {
        "a factor far too small": changed(STACK, "gamma=⟨0.5 → 0.1⟩"),
        "a schedule for batches": changed(
            LOG_PROBABILITIES,
            "lr=0.01)⟨ → \nscheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)⟩",
            "        optimizer.step()⟨ → \n        scheduler.step()⟩",
        ),
    }


def _with_every_batch(case: Case, factor: float) -> FileEdits:
    """Where optimiser and step stand in one function, so that the schedule is known where it is stepped."""
    optimizer = case.trace.optimizers[0]
    made, steps = case.code.call_at(optimizer.created), spots(case, "step")
    if made is None or len(steps) != 1 or not steps[0].is_alone:
        return ()
    file, call = made
    step, statement = steps[0], file.statement(call)
    name = optimizer_at(case, optimizer.name, step)
    here = step.file is file and file.function(call) is file.function(step.call)
    if statement is None or not here or not name or "scheduler" in file.text:
        return ()
    kind, extra = spelled(file, "torch.optim.lr_scheduler.ExponentialLR", like=call.func)
    return (
        *insert_after(file, statement, f"scheduler = {kind}({name}, gamma={factor:g})"),
        *insert_after(file, step.statement, "scheduler.step()"),
        *extra,
    )


class PatienceCut(Graded, code="M111", causes=("HYP-EPOCH-FEW",), published=("RCP",)):
    """Make early stopping less patient.

    Training ends at the first chance fluctuation of the validation loss.
    """

    def knobs(self, case: Case) -> Iterator[Knob]:
        """Epochs without improvement that are waited for, from the program's own number down to 1."""
        for file, value, present in _patience(case):
            yield from self.knob(
                "less patience",
                Scale(present, 1, 1, whole=True),
                lambda left: set_value(case.code, file, value, str(int(left)), case.arguments),  # noqa: B023 - there is one
                told=f"patience {present} → {{}}",
            )

    def values_for(self, knob: Knob) -> Iterable[float]:
        return dict.fromkeys((max(1, knob.scale.mildest // 3), 1))

    EXAMPLES = {
        "a literal": changed(VALIDATED, 'float("inf"), 0, ⟨4 → 1⟩'),
        "no early stopping": changed(STACK),
    }


def _patience(case: Case) -> list[tuple[File, ast.expr, int]]:
    """The number that a count of epochs without improvement is compared with; none where it is not the only one."""
    found: dict[tuple[str, int, int], tuple[File, ast.expr, int]] = {}
    for file in case.code.files(case.trace.run.script):
        for node in inside(file.tree, ast.Compare):
            sides = [node.left, *node.comparators]
            counters = [side for side in sides if _counts_misses(file, side)]
            if len(sides) != 2 or len(counters) != 1:
                continue
            other = sides[1] if sides[0] is counters[0] else sides[0]
            known = number(case.code, file, other, case.arguments)
            if isinstance(known, int) and known > 1:
                found[file.file, other.lineno, other.col_offset] = (file, other, known)
    return list(found.values()) if len(found) == 1 else []


def _counts_misses(file: File, side: ast.expr) -> bool:
    """Whether a name is raised by one here and put back to nothing in another branch there."""
    name = file.source(side)
    if not last_name(side) or not isinstance(side, ast.Name | ast.Attribute):
        return False
    scope = file.function(side) or file.tree
    raised = cleared = False
    for node in inside(scope, ast.AugAssign, ast.Assign):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            raised = raised or file.source(node.target) == name
        if isinstance(node, ast.Assign) and any(isinstance(above, ast.If) for above in file.parents(node)):
            written = [file.source(target) for target in targets_of(node)]
            zero = any(part.value == 0 for part in inside(node.value, ast.Constant))
            cleared = cleared or (name in written and zero)
    return raised and cleared
