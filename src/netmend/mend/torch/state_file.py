"""A state dict saved by torch.save, as a model that patches can be put into.

Such files are pickles: they are only ever opened by PyTorch's restricted reader (weights_only), which builds tensors and
plain containers and refuses everything else.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netmend.errors import UsageError
from netmend.mend.dtypes import Bits
from netmend.mend.files import written_whole
from netmend.mend.patch import Piece
from netmend.mend.torch.tensors import TensorWeights
from netmend.mend.weights import Layout

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
