"""Changes that have to be made together: mistakes of which one mended alone shows nothing yet, and a rate that only a mistake made tolerable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import good_rate, rounded, share_moved, usual_rate
from netmend.changes.loop.rate_places import peak_rate, present_rate, rate_title, set_rate
from netmend.diagnose.measures.rates import usual_range
from netmend.library.optimisers import ADAPTIVE
from netmend.localise.lines.rates import momentum
from netmend.program.text.sources import Sources
from netmend.vocabulary import Diagnosis, Fault, OptimizerFact, Trace
from netmend.vocabulary.change import Change, FileEdit

SURE = 0.6  # faults less sure than that are left to be tried by themselves
_MOST = 3
_EARLY = 10  # steps, within which a mistake of the network's own shows
_LEAST = 4.0  # times the present rate: less makes no difference
# The run learned nothing, or its loss rose for good, or became non-finite, or its network died.
_LEARNED_NOTHING = ("D501", "D502", "D110", "D130")
RATES = ("HYP-LR-HIGH", "HYP-LR-LOW")
# Several answers to one question, "why does it learn so slowly?", and what only shows how good a model is.
_PACE = (*RATES, "HYP-EPOCH", "HYP-BATCH", "OPT-SELECT", "HYP-LR-SCHED")
_NO_PART = ("VAL-", "HYP-EPOCH", "HYP-BATCH", "DAT-", "MEM-", "API-SEED")
# Mistakes whose mending makes gradients larger or smaller: a rate that was found by them holds no more.
_SCALES = ("LYR-SOFTMAX", "ACT-", "LOS-", "PRE-", "ARC-INIT", "TSR-", "LYR-OUT", "LOOP-ACCUM", "LOOP-ZERO")
_SHRINKS = ("PRE-", "ARC-INIT", "LOOP-ACCUM", "LOOP-ZERO", "LOS-CALC")


def companions(
    trace: Trace,
    sources: Sources,
    diagnosis: Diagnosis,
    first: tuple[Fault, Change],
    others: Sequence[tuple[Fault, Change]],
) -> list[Change]:
    """What has to be changed with the first fault: a rate that moves nothing; and, where a run learned nothing, what else is sure."""
    failed = not {symptom.code for symptom in diagnosis.symptoms}.isdisjoint(_LEARNED_NOTHING)
    if first[0].cause.startswith(_NO_PART):
        return []
    chosen = [first]
    for fault, change in others:
        if (not failed and fault.cause not in RATES) or _grew_later(fault):
            continue
        if len(chosen) == _MOST or fault.confidence < SURE or fault.cause.startswith(_NO_PART):
            continue
        if fault.cause.startswith(_PACE) and any(one.cause.startswith(_PACE) for one, _ in chosen):
            continue
        if first[0].cause in RATES and fault.cause.startswith(_SCALES):
            continue  # its rate holds as long as the other mistake stands
        made = change
        if fault.cause in RATES and any(one.cause.startswith(_SCALES) for one, _ in chosen):
            shrink = any(one.cause.startswith(_SHRINKS) for one, _ in chosen)
            calm = _usual(trace, sources, change, shrink)
            if calm is None:
                continue
            made = calm
        if any(made.arguments is not None and one.arguments is not None for _, one in chosen):
            continue
        if not any(collide(one, made) for _, one in chosen):
            chosen.append((fault, made))
    return [change for _, change in chosen[1:]]


def _grew_later(fault: Fault) -> bool:
    """Units that saturate or die in the course of a run may do so because of what was wrong before."""
    shown = fault.first_step
    return shown is not None and shown > _EARLY and fault.cause.startswith(("ACT-HID-WRONG", "ARC-INIT"))


def joined(first: Change, other: Change) -> Change:
    """One change that makes both."""
    return replace(
        first,
        title=f"{first.title}; {other.title}",
        edits=(*first.edits, *(edit for edit in other.edits if edit not in first.edits)),
        forced=(),
        arguments=other.arguments if first.arguments is None else first.arguments,
    )


def _usual(trace: Trace, sources: Sources, change: Change, shrink: bool) -> Change | None:
    """A change of the rate to what is usual, where the first gradients say nothing about later ones, which may `shrink`; None where that is near."""
    case = Case(trace, sources, None, trace.run.arguments)
    optimizer = case.optimizer
    present = present_rate(case, optimizer)
    if optimizer is None or optimizer.kind in ADAPTIVE:
        return change
    if present is None or present <= 0:
        return None
    usual = usual_rate(optimizer.kind, momentum(optimizer))
    rate = usual if shrink else min(good_rate(trace, optimizer), usual)
    if max(rate / present, present / rate) < _LEAST:
        return None
    faces = set_rate(case, optimizer, rate, present)
    title = rate_title(case, optimizer, rate, present)
    return replace(change, title=title, edits=faces.edits, arguments=faces.arguments) if faces else None


def collide(one: Change, other: Change) -> bool:
    """Whether two changes write the same place anew, or give one setting two values."""
    values = [change.title.partition(" → ")[2] for change in (one, other)]
    if one.knob and one.knob == other.knob and all(values) and values[0] != values[1]:
        return True
    return any(_overlap(first, second) for first in one.edits for second in other.edits)


def _overlap(one: FileEdit, other: FileEdit) -> bool:
    if one.file != other.file:
        return False
    first, second = (
        ((each.edit.line, each.edit.column), (each.edit.end_line, each.edit.end_column))
        for each in (one, other)
    )
    return one == other or (first[0] < second[1] and second[0] < first[1])


# Causes that keep gradients smaller than they are once the cause is gone.
_DAMPING = ("LYR-SOFTMAX-EXTRA", "ACT-EXTRA", "ACT-OUT-WRONG", "ACT-HID-WRONG", "LOS-SELECT")
_THROUGH_SOFTMAX = ("LYR-SOFTMAX-EXTRA",)
_WILD = 0.5  # of their size: weights that move so far in one step forget what they held
_LESS = 4.0  # times lower: what is nearer to the present rate makes no difference


def uncovered(trace: Trace, sources: Sources, fault: Fault, change: Change) -> tuple[Change, str]:
    """The change with a lower rate, where the present one would be too high without the fault, and a sentence about it."""
    if fault.cause not in _DAMPING or "lr" in change.knob or change.knob == "rate":
        return change, ""
    case = Case(trace, sources, None, trace.run.arguments)
    optimizer = case.optimizer
    if optimizer is None:
        return change, ""
    present = present_rate(case, optimizer)
    peak = peak_rate(case, optimizer) or present
    if present is None or peak is None or present <= 0 or peak <= 0:
        return change, ""
    stronger = _gradients_grow(fault, case)
    if not _is_beyond(trace, optimizer, peak, stronger):
        return change, ""
    wanted = min(good_rate(trace, optimizer) / stronger ** (2 / 3), peak / _LESS)
    rate = rounded(wanted * present / peak)
    faces = set_rate(case, optimizer, rate, present)
    if not faces or (faces.arguments is not None and change.arguments is not None):
        return change, ""
    title = rate_title(case, optimizer, rate, present)
    both = replace(
        change,
        title=f"{change.title}; {title}",
        edits=(*change.edits, *(edit for edit in faces.edits if edit not in change.edits)),
        forced=(),
        arguments=faces.arguments or change.arguments,
    )
    setting, _, new = title.partition(" → ")
    name, _, old = setting.rpartition(" ")
    what = "the learning rate" if name == "learning rate" else f"`{name.removeprefix('learning rate, ')}`"
    told = f"Also lower {what} from {old} to {new}: once this is fixed the gradients are larger, and {peak:g} is too high for {optimizer.kind}."
    return both, told


def _gradients_grow(fault: Fault, case: Case) -> float:
    """How many times larger gradients are without the fault, at the start: a softmax over n classes passes on 1/n of them."""
    width = case.task.classes if case.task is not None and fault.cause in _THROUGH_SOFTMAX else None
    return float(max(1, width or 1))


def _is_beyond(trace: Trace, optimizer: OptimizerFact, rate: float, stronger: float) -> bool:
    usual = usual_range(optimizer)
    if usual is not None and rate > usual[1]:
        return True
    moved = share_moved(trace, optimizer)
    return optimizer.kind not in ADAPTIVE and moved is not None and rate * moved * stronger > _WILD
