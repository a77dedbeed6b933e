"""The patch of a repaired language model, in the names and types of its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from torch import Tensor

from netmend.errors import UsageError
from netmend.mend.model_files import open_model
from netmend.mend.patch import Patch, patch_between
from netmend.mend.torch.state_file import TensorWeights
from netmend.mend.weights import Bits, Layout, Weights


class _Over:
    """Weights of a file with some tensors replaced."""

    def __init__(self, under: Weights, over: TensorWeights) -> None:
        self._under, self._over = under, over

    @property
    def layout(self) -> Mapping[str, Layout]:
        return {**self._under.layout, **self._over.layout}

    def bits(self, name: str) -> Bits:
        return self._over.bits(name) if name in self._over.tensors else self._under.bits(name)


def patch_for_folder(
    folder: Path,
    before: Mapping[str, Tensor],
    after: Mapping[str, Tensor],
    prefix: str,
    meta: Mapping[str, str],
) -> Patch:
    """`before` and `after` are the touched parameters; `prefix` is what the model puts before its body's names."""
    stored = open_model(folder)
    names = {name: _stored_name(name, stored.layout, prefix, folder) for name in before}
    first = TensorWeights({names[name]: tensor for name, tensor in before.items()})
    for name in first.tensors:
        if first.layout[name] != stored.layout[name] or not np.array_equal(
            first.bits(name), stored.bits(name)
        ):
            raise UsageError(
                f"{name} in {folder} is not what was loaded ({stored.layout[name]}, loaded {first.layout[name]}); "
                "save the model again with this version of transformers and mend that"
            )
    return patch_between(stored, _Over(stored, TensorWeights({names[n]: t for n, t in after.items()})), meta)


def _stored_name(name: str, layout: Mapping[str, Layout], prefix: str, folder: Path) -> str:
    """Some files leave out the name of the model's body, which transformers then adds."""
    for tried in (name, name.removeprefix(f"{prefix}."), f"{prefix}.{name}"):
        if tried in layout:
            return tried
    raise UsageError(
        f"the parameter {name} is stored under another name in {folder}; save the model again with "
        "save_pretrained and mend that"
    )
