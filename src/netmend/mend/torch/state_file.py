"""Tensors as weights: patches of models in memory, and of state dicts saved by torch.save."""

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
from netmend.mend.fit import State, fit
from netmend.mend.patch import Patch, Piece
from netmend.mend.safetensors_format import refuse_bad_name
from netmend.mend.weights import Bits, Layout, bits_type

# Tensors as weights: their bits, and patches of models in memory.

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
