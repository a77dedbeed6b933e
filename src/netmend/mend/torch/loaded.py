"""The weights of a file in a module, on the device where it is mended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.weights import Layout, Weights

# Where a model is mended.


def device_for(name: str) -> torch.device:
    """The device of that name; "": an accelerator if there is one."""
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, ValueError) as problem:
        told = (str(problem).strip().splitlines() or [type(problem).__name__])[0][:160]
        raise UsageError(
            f"the device {name!r} cannot be used here: {told}. Leave --device out, or say cpu"
        ) from None
    if device.type == "meta":
        raise UsageError("the device 'meta' holds no values; say cpu or cuda")
    return device


# The weights of a file in a module, in the file's own types, so that a patch of the module fits the file.

_SIGNED = {1: "u1", 2: "<i2", 4: "<i4", 8: "<i8"}
_TYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip


def load_weights(module: nn.Module, weights: Weights, where: str) -> dict[str, str]:
    """All tensors of the file into the module; gives the file's name of each tensor of the module.

    The file's names may all begin alike (`module.`, `model.`), as wrappers leave them.
    """
    own = module.state_dict()
    names = _names(own, weights.layout, where, type(module).__name__)
    for name, stored in names.items():
        layout = weights.layout[stored]
        if tuple(own[name].shape) != layout.shape:
            raise UsageError(
                f"the weights do not fit: {stored} is {list(layout.shape)} in {where} and {list(own[name].shape)} in the "
                f"{type(module).__name__}; build the model with the sizes that it was trained with"
            )
    _take_types(
        module, {name: _dtype(weights.layout[stored], stored, where) for name, stored in names.items()}
    )
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            tensor.copy_(_tensor(weights, names[name], tensor.dtype))
    return names


def _names(own: Mapping[str, Tensor], stored: Mapping[str, Layout], where: str, kind: str) -> dict[str, str]:
    for prefix in ("", _common(stored)):
        known = _tied(own, {name: prefix + name for name in own if prefix + name in stored})
        missing = sorted(own.keys() - known.keys())
        more = sorted(stored.keys() - set(known.values()))
        if not missing and not more:
            return known
        if not prefix:
            first = missing, more
    missing, more = first
    parts = [f"{len(missing)} tensors are missing ({missing[0]})"] if missing else []
    parts += [f"{len(more)} are unknown to the model ({more[0]})"] if more else []
    raise UsageError(
        f"the weights do not fit the {kind}: in {where}, {' and '.join(parts)}; build the model as it was trained"
    )


def _tied(own: Mapping[str, Tensor], known: dict[str, str]) -> dict[str, str]:
    """Tied weights are stored once: a tensor that the file lacks may share the memory of one that it has."""
    memory = {own[name].data_ptr(): stored for name, stored in known.items() if own[name].numel()}
    return {
        name: known.get(name) or memory[one.data_ptr()]
        for name, one in own.items()
        if name in known or one.data_ptr() in memory
    }


def _common(stored: Mapping[str, Layout]) -> str:
    heads = {name.partition(".")[0] for name in stored}
    return f"{heads.pop()}." if len(heads) == 1 else ""


def _dtype(layout: Layout, name: str, where: str) -> torch.dtype:
    if layout.dtype not in _TYPES:
        raise UsageError(
            f"{name} in {where} has the type {layout.dtype}; weights of such types are not mended"
        )
    return _TYPES[layout.dtype]


@torch.no_grad()
def _take_types(module: nn.Module, types: Mapping[str, torch.dtype]) -> None:
    """In place, so that tied parameters stay one."""
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if name in types and parameter.dtype != types[name]:
            parameter.data = parameter.data.to(types[name])
    for name, buffer in module.named_buffers(remove_duplicate=False):
        if name in types and buffer.dtype != types[name]:
            buffer.data = buffer.data.to(types[name])


def _tensor(weights: Weights, name: str, dtype: torch.dtype) -> Tensor:
    bits = np.array(weights.bits(name))
    shape = weights.layout[name].shape
    if not bits.size:
        return torch.empty(shape, dtype=dtype)
    return torch.from_numpy(bits.view(_SIGNED[bits.itemsize])).view(dtype).reshape(shape)
