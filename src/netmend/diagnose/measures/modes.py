"""Modes: layers that work differently in training and in evaluation."""

from __future__ import annotations

from netmend.library.layers import BATCH_NORMS, RECURRENT
from netmend.vocabulary import Call, FunctionFact, ModuleFact, Pattern, Site, Trace

_DROPOUT = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_BATCH_NORM = (*BATCH_NORMS, "SyncBatchNorm")


def mode_layers(trace: Trace, model: str) -> tuple[str, ...]:
    """Names of the model's dropout and batch-norm layers that were executed and depend on the mode."""
    modules = [
        m.name for m in trace.all(ModuleFact) if m.model == model and m.order is not None and _depends(m)
    ]
    functions = [
        f.name
        for f in trace.all(FunctionFact)
        if f.model == model and f.kind == "dropout" and "training" in f.settings and f.settings.get("p") != 0
    ]
    return (*modules, *functions)


def kinds(trace: Trace, names: tuple[str, ...]) -> str:
    """ "dropout", "batch norm" or "dropout and batch norm"."""
    normal = any((m := trace.get(ModuleFact, name)) is not None and m.kind in _BATCH_NORM for name in names)
    other = any((m := trace.get(ModuleFact, name)) is None or m.kind not in _BATCH_NORM for name in names)
    return " and ".join(word for word, there in (("dropout", other), ("batch norm", normal)) if there)


def switched_passes(trace: Trace, model: str) -> list[tuple[Pattern, Call]]:
    """Passes behind a call of train() of their own, none of which is trained on, in a program that never calls eval(): each with that call."""
    mine = [call for pattern in trace.patterns for call in pattern.calls if _is_of(call, model)]
    if any(call.what == "eval" for call in mine):
        return []
    used, found = set(), []
    for pattern in trace.patterns:
        switch, waiting = None, None
        for call in pattern.calls:
            ended = call.what in ("end", "epoch") or (call.what == "train" and _is_of(call, model))
            if ended and waiting is not None:
                found.append((pattern, waiting))
                waiting = None
            if call.what == "train" and _is_of(call, model):
                switch = call
            elif call.what == "forward" and call.component == model and call.detail.startswith("train"):
                waiting = switch
            elif call.what == "backward":
                used.add(_line(switch))
                waiting = switch = None
    return [item for item in found if _line(item[1]) not in used] if used - {None} else []


def _line(call: Call | None) -> Site | None:
    return call.site if call is not None else None


def _is_of(call: Call, model: str) -> bool:
    """Whether a mode is that of a model, or of what holds it."""
    return call.what in ("train", "eval") and (
        call.component in ("", model) or model.startswith(f"{call.component}.")
    )


def _depends(module: ModuleFact) -> bool:
    settings = module.settings
    if module.kind in _DROPOUT:
        return bool(settings.get("p", 0.5))
    if module.kind in _BATCH_NORM:
        return bool(settings.get("track_running_stats", True))
    if module.kind in RECURRENT:
        return bool(settings.get("dropout")) and int(settings.get("num_layers") or 1) > 1
    return module.kind == "MultiheadAttention" and bool(settings.get("dropout"))
