"""Where a cause would lie that no rule accused: the line that sets what the cause is about, as far as the trace alone tells."""

from __future__ import annotations

from netmend.diagnose.measures.batches import training_loader
from netmend.diagnose.measures.chain import chain, last_weighted
from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.loop import usual_site
from netmend.localise.case import Case
from netmend.localise.lines.rates import setting
from netmend.program.settings import argument_origin
from netmend.vocabulary import Site

_OPTIMIZER = {
    "HYP-LR-HIGH": "lr",
    "HYP-LR-LOW": "lr",
    "LOS-REG-EXTRA": "weight_decay",
    "LOS-REG-KIND": "weight_decay",
    "OPT-EPS": "eps",
    "OPT-MOMENTUM": "momentum",
    "OPT-SELECT": "",
    "OPT-PARAMS": "",
}
_LOSS = ("LOS-", "TSR-SQUEEZE", "LYR-OUT-SHAPE")
_OUTPUT = ("ACT-OUT-", "LYR-SOFTMAX-", "ACT-DIM", "ACT-EXTRA")
_HIDDEN = ("ACT-HID-", "ARC-", "LYR-")
_DATA = ("DAT-", "PRE-", "VAL-", "API-SHUFFLE-POS", "HYP-BATCH-", "INP-")


def likely_place(case: Case, cause: str) -> tuple[str, Site | None]:
    """Component and line; no line where the trace names none."""
    if cause in _OPTIMIZER:
        return _optimizer(case, _OPTIMIZER[cause])
    if cause.startswith(_LOSS):
        loss = next(minimised(case.trace), None)
        return ("", None) if loss is None else (loss.name, loss.created or loss.called)
    if cause.startswith(_OUTPUT):
        return _layer(case, output=True)
    if cause.startswith(_HIDDEN):
        return _layer(case, output=False)
    if cause.startswith(_DATA):
        return _data(case, cause)
    return "training loop", usual_site(case.trace, "step") or usual_site(case.trace, "backward")


def _optimizer(case: Case, name: str) -> tuple[str, Site | None]:
    optimizer = next(iter(case.trace.optimizers), None)
    if optimizer is None or not name:
        return ("training loop", None) if optimizer is None else (optimizer.name, optimizer.created)
    return optimizer.name, setting(case, optimizer, name, 1 if name == "lr" else None).site


def _layer(case: Case, output: bool) -> tuple[str, Site | None]:
    """The last operation of the model, or its first layer with weights."""
    links = chain(case.trace)
    if not links:
        return "", None
    if output:
        return links[-1].name, links[-1].site
    inner = [link for link in links if link.position < last_weighted(case.trace, link.model)]
    first = next((link for link in inner if link.kind in ("linear", "recurrent")), links[0])
    return first.name, first.site


def _data(case: Case, cause: str) -> tuple[str, Site | None]:
    loader = training_loader(case.trace)
    if loader is None:
        return "training data", None
    if cause.startswith("HYP-BATCH-"):
        origin = argument_origin(case.sources, loader.created, "batch_size", 1)
        return loader.name, loader.created if origin is None else origin.site
    return loader.name, loader.created
