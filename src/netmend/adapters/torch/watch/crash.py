"""Crash: what raised, read from the frames of the exception's own traceback. Nothing is recorded before, and nothing is kept alive.

On a device whose context may be lost, only shapes are read.
"""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.eligible import plain, tensors_in
from netmend.vocabulary.crash import CrashFact, GivenFact

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_CALL = nn.Module._call_impl.__code__
_LOSSES = nn.functional.__file__
_MOST_READ = 1_000_000  # values of a tensor whose range is worth reading


def crash_fact(session: TorchSession, problem: BaseException) -> CrashFact | None:
    """None when neither a module nor a loss was at work."""
    calls: list[tuple[nn.Module, Any]] = []
    loss: tuple[str, Any, Any] | None = None
    for frame in _frames(problem):
        there = frame.f_locals
        if frame.f_code is _CALL and isinstance(there.get("self"), nn.Module):
            calls.append((there["self"], (there.get("args", ()), there.get("kwargs", {}))))
        elif frame.f_code.co_filename == _LOSSES and "target" in there and "input" in there and loss is None:
            loss = frame.f_code.co_name, there["input"], there["target"]
    if not calls and loss is None:
        return None
    safe = "CUDA" not in str(problem)
    facts: dict[str, Any] = {}
    if calls and loss is None:
        (outer, batch), (inner, given) = calls[0], calls[-1]
        model = session.models.find(outer)
        weight = next(iter(inner.parameters(recurse=False)), None)
        facts = {
            "model": session.names.get(outer) or type(outer).__name__,
            "batch": _given(batch, safe),
            "first_batch": () if model is None else model.input_shapes,
            "module": session.names.get(inner) or type(inner).__name__,
            "kind": type(inner).__name__,
            "given": _given(given, safe),
            "dtype": "" if weight is None else str(weight.dtype).removeprefix("torch."),
            "device": "" if weight is None else weight.device.type,
        }
        facts["wants"], facts["got"] = _misfit(inner, facts["given"])
    if loss is not None:
        name, predicted, target = loss
        facts |= {"loss": name, "prediction": _one(predicted, safe), "target": _one(target, safe)}
    return CrashFact(step=session.recorder.step, **facts)


def _frames(problem: BaseException) -> list[FrameType]:
    found, link = [], problem.__traceback__
    while link is not None:
        found.append(link.tb_frame)
        link = link.tb_next
    return found


def _given(value: Any, safe: bool) -> tuple[GivenFact, ...]:
    found = (_one(tensor, safe) for tensor in list(tensors_in(value))[:8])
    return tuple(one for one in found if one is not None)


def _one(value: Any, safe: bool) -> GivenFact | None:
    if not isinstance(value, Tensor) or not plain(value):
        return None
    low: float | None = None
    high: float | None = None
    if safe and 0 < value.numel() <= _MOST_READ and not value.is_complex():
        with torch.no_grad():
            least, most = value.detach().aminmax()
            low, high = float(least), float(most)
    kind = str(value.dtype).removeprefix("torch.")
    return GivenFact(tuple(value.shape), kind, value.device.type, low, high)


def _misfit(module: nn.Module, given: tuple[GivenFact, ...]) -> tuple[str, str]:
    """The size that the module wants and the one it got, where they differ."""
    shape = given[0].shape if given else ()
    for kind, name, axis, unit in _SIZES:
        if isinstance(module, kind) and len(shape) >= abs(axis):
            wanted, got = getattr(module, name), shape[axis]
            if isinstance(wanted, int) and wanted != got:
                return f"{wanted} {unit}", str(got)
    if isinstance(module, nn.Embedding | nn.EmbeddingBag) and given:
        low, high = given[0].minimum, given[0].maximum
        if low is not None and high is not None and (low < 0 or high >= module.num_embeddings):
            return f"indices from 0 to {module.num_embeddings - 1}", f"{low if low < 0 else high:.0f}"
    return "", ""


_SIZES: tuple[tuple[Any, str, int, str], ...] = (
    (nn.Linear, "in_features", -1, "features"),
    (nn.Conv1d, "in_channels", -2, "channels"),
    (nn.Conv2d, "in_channels", -3, "channels"),
    (nn.Conv3d, "in_channels", -4, "channels"),
    (nn.BatchNorm1d, "num_features", 1, "features"),
    (nn.BatchNorm2d, "num_features", 1, "channels"),
    (nn.BatchNorm3d, "num_features", 1, "channels"),
    (nn.RNNBase, "input_size", -1, "features"),
    (nn.RNNCellBase, "input_size", -1, "features"),
)
