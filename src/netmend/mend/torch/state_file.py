"""Tensors as weights: patches of models in memory, state dicts saved by torch.save, weights of a file in a module."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.files import written_whole
from netmend.mend.patch import Patch, Piece, State, fit
from netmend.mend.safetensors_format import refuse_bad_name
from netmend.mend.weights import Bits, Layout, Weights, bits_type

_NAMES = {
    torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64", torch.int8: "I8",
    torch.int16: "I16", torch.int32: "I32", torch.int64: "I64", torch.uint8: "U8", torch.bool: "BOOL",
    torch.complex64: "C64", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.uint16: "U16",
    torch.uint32: "U32", torch.uint64: "U64", torch.float8_e4m3fnuz: "F8_E4M3FNUZ", torch.float8_e5m2fnuz: "F8_E5M2FNUZ",
}  # fmt: skip
_SIGNED = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class TensorWeights:
    """Named tensors, live: what changes in them is seen here. Of tensors that share their memory the first name counts."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self.tensors: dict[str, Tensor] = {}
        seen: set[tuple[Any, ...]] = set()
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                continue  # a module's own extra state
            refuse_bad_name(name, "the model")
            if tensor.layout is not torch.strided or tensor.is_quantized or tensor.dtype not in _NAMES:
                raise UsageError(
                    f"{name} is a tensor of {tensor.dtype}, {tensor.layout}; patches know plain ones only"
                )
            memory = (tensor.device, tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
            if tensor.numel() and memory in seen:
                continue
            seen.add(memory)
            self.tensors[name] = tensor.detach()

    @property
    def layout(self) -> Mapping[str, Layout]:
        return {name: Layout(_NAMES[one.dtype], tuple(one.shape)) for name, one in self.tensors.items()}

    def bits(self, name: str) -> Bits:
        tensor = self.tensors[name]
        flat = tensor.cpu().contiguous().reshape(-1).view(_SIGNED[tensor.element_size()])
        return flat.numpy().view(bits_type(_NAMES[tensor.dtype]))

    def copied(self) -> TensorWeights:
        return TensorWeights({name: one.clone() for name, one in self.tensors.items()})

    @torch.no_grad()
    def take(self, values: TensorWeights) -> None:
        """The values of tensors of the same names; buffers too, which some modules change even in evaluation mode."""
        for name, one in self.tensors.items():
            one.copy_(values.tensors[name])

    def put(self, pieces: Iterable[Piece]) -> None:
        """The new values of the pieces, in place."""
        for piece in pieces:
            tensor = self.tensors[piece.name]
            bits = np.array(self.bits(piece.name))
            bits[piece.indices] = piece.new
            signed = torch.from_numpy(bits.view(f"<{'u' if bits.itemsize == 1 else 'i'}{bits.itemsize}"))
            tensor.copy_(signed.view(tensor.dtype).reshape(tensor.shape))


def weights_of(module: nn.Module) -> TensorWeights:
    """All parameters and kept buffers, as they would be saved."""
    return TensorWeights(module.state_dict())


def change_module(module: nn.Module, patch: Patch, wanted: State) -> State:
    """Put a patch into a model in memory (IN) or take it out (OUT); gives the state that was found."""
    weights = weights_of(module)
    found = fit(patch, weights, f"the {type(module).__name__}")
    if found is not wanted:
        weights.put((patch if wanted is State.IN else patch.inverted()).pieces)
    return found


# A state dict saved by torch.save, as a model that patches can be put into.
#
# Such files are pickles: they are only ever opened by PyTorch's restricted reader (weights_only), which builds tensors and
# plain containers and refuses everything else.

_INSIDE = ("state_dict", "model_state_dict", "model")  # where checkpoints keep the weights


class StateFile:
    """The weights of a state dict, or of a checkpoint that holds one; all else in it is kept as it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._whole = _load(path)
        self._weights = TensorWeights(_weights_in(self._whole, path))

    @property
    def layout(self) -> Mapping[str, Layout]:
        return self._weights.layout

    def bits(self, name: str) -> Bits:
        return self._weights.bits(name)

    def write(self, pieces: Sequence[Piece], out: Path) -> None:
        self._weights.put(pieces)
        with written_whole(out) as temporary:
            torch.save(self._whole, temporary)
            shutil.copymode(self.path, temporary)

    def change(self, pieces: Sequence[Piece]) -> None:
        self.write(pieces, self.path)


def _load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise UsageError(
            f"{path} holds more than tensors and plain containers (or is no PyTorch file) and was not opened, since that "
            "could run code; save model.state_dict() alone, or as safetensors"
        ) from None
    except (
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
        KeyError,
        AttributeError,
        IndexError,
        TypeError,
    ) as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise UsageError(
            f"{path} is not a sound PyTorch file: {first[:200]}. Write or copy it again"
        ) from None


def _weights_in(whole: Any, path: Path) -> Mapping[str, Any]:
    # Inside first: a checkpoint may hold a loose tensor (a loss) beside its state dict.
    inside = [key for key in _INSIDE if isinstance(whole, Mapping) and _is_state(whole.get(key))]
    if len(inside) == 1:
        return dict(whole[inside[0]])
    if not inside and _is_state(whole):
        return dict(whole)
    found = f"{len(inside)} of them" if inside else f"a {type(whole).__name__} without one"
    raise UsageError(
        f"{path} should hold a state dict, at its top or under one of {', '.join(_INSIDE)}; it holds {found}"
    )


def _is_state(given: Any) -> bool:
    return (
        isinstance(given, Mapping)
        and all(isinstance(name, str) for name in given)
        and any(isinstance(value, Tensor) for value in given.values())
    )


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

_STORED_AS = {1: "u1", 2: "<i2", 4: "<i4", 8: "<i8"}
_MENDED = ("F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL")


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
    if layout.dtype not in _MENDED:
        raise UsageError(
            f"{name} in {where} has the type {layout.dtype}; weights of such types are not mended"
        )
    return next(kind for kind, name in _NAMES.items() if name == layout.dtype)


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
    return torch.from_numpy(bits.view(_STORED_AS[bits.itemsize])).view(dtype).reshape(shape)
