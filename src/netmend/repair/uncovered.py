"""What a change uncovers: a learning rate that only the mistake made tolerable is changed along with it.

A softmax before the loss or a squashing layer keeps gradients small. Without it every step is longer, and a rate that the run
survived may be far beyond what the optimiser stands.
"""

from __future__ import annotations

from dataclasses import replace

from netmend.changes.case import Case
from netmend.changes.loop.good_rates import good_rate, rounded, share_moved
from netmend.changes.loop.rate_places import peak_rate, present_rate, rate_title, set_rate
from netmend.diagnose.measures.rates import usual_range
from netmend.library.optimisers import ADAPTIVE
from netmend.program.text.sources import Sources
from netmend.vocabulary import Fault, OptimizerFact, Trace
from netmend.vocabulary.change import Change

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
