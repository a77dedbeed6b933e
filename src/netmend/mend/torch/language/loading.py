"""A language model and its tokeniser from a local folder, the values of its blocks before the repair, and the patch of its files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netmend.errors import MissingExtra, UsageError
from netmend.mend.model_files import open_model
from netmend.mend.patch import Patch, patch_between
from netmend.mend.torch.language.blocks import Block
from netmend.mend.torch.state_file import TensorWeights
from netmend.mend.weights import Bits, Layout, Weights

# A causal language model from a local folder: never from the network, never with code of its own, never unpickled.


def load_model(folder: Path, device: str = "cpu", spread: bool = False) -> Any:
    """The model with its weights in the type they are stored in, so that a patch fits the files.

    `spread` lays it over all devices of the machine (accelerate decides which layer goes where).
    """
    _refuse_unsafe(folder)
    library = _transformers()
    options: dict[str, Any] = {"use_safetensors": True, _dtype_word(library): "auto"}
    if spread:
        options["device_map"] = "auto"
    model = _loaded(library.AutoModelForCausalLM, folder, options)
    if getattr(model, "is_quantized", False):
        raise UsageError(f"the weights in {folder} are quantised; mend the model that they were made from")
    if not spread:
        model = model.to(device)
    elif any(str(place) in ("cpu", "disk") for place in getattr(model, "hf_device_map", {}).values()):
        raise UsageError(
            f"the model in {folder} does not fit the accelerators of this machine; mend it on larger ones"
        )
    return model.eval()


def load_tokenizer(folder: Path) -> Any:
    _refuse_unsafe(folder)
    return _loaded(_transformers().AutoTokenizer, folder, {})


def empty_model(folder: Path) -> Any:
    """The model without memory for its weights: enough to count them."""
    import torch

    _refuse_unsafe(folder, weights=False)
    library = _transformers()
    config = _loaded(library.AutoConfig, folder, {})
    with torch.device("meta"):
        return library.AutoModelForCausalLM.from_config(config, trust_remote_code=False)


def _loaded(kind: Any, folder: Path, options: dict[str, Any]) -> Any:
    try:
        return kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError) as problem:
        told = str(problem).strip().partition("\n")[0][:300]
        raise UsageError(f"the {kind.__name__} in {folder} cannot be loaded: {told}") from None


def _refuse_unsafe(folder: Path, weights: bool = True) -> None:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give one with config.json and .safetensors files")
    config = folder / "config.json"
    try:
        held = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise UsageError(
            f"{config} cannot be read as JSON; give the folder of a Hugging Face model"
        ) from None
    if not isinstance(held, dict) or "auto_map" in held:
        raise UsageError(
            f"the model in {folder} brings code of its own, which is not run; use a class of transformers"
        )
    if weights and not any(folder.glob("*.safetensors")):
        others = sorted(one.name for one in folder.glob("*.bin"))[:3]
        told = f" ({', '.join(others)} could run code when read)" if others else ""
        raise UsageError(
            f"{folder} holds no .safetensors weights{told}; save the model with safe_serialization=True"
        )


def _transformers() -> Any:
    try:
        import transformers
    except ModuleNotFoundError:
        raise MissingExtra("mending language models needs transformers: pip install 'netmend[llm]'") from None
    return transformers


def _dtype_word(library: Any) -> str:
    major, minor = (int(part) for part in library.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


# The values that blocks had before the repair, kept when a block is first touched.


class Originals:
    """Copies of touched parameters only, away from the device where that is asked for."""

    def __init__(self, keep_on: str | None = None) -> None:
        self._keep_on = keep_on
        self._held: dict[str, tuple[Tensor, Tensor]] = {}  # the live parameter and its first value

    def keep(self, block: Block) -> None:
        for name, parameter in block.parameters.items():
            if name not in self._held:
                self._held[name] = (parameter, self._copy(parameter))

    @property
    def values(self) -> Mapping[str, Tensor]:
        return {name: first for name, (_, first) in self._held.items()}

    def snapshot(self) -> dict[str, Tensor]:
        """The present values of everything touched."""
        return {name: self._copy(live) for name, (live, _) in self._held.items()}

    @torch.no_grad()
    def put(self, values: Mapping[str, Tensor]) -> None:
        """Given values, and the first ones for what is not among them."""
        for name, (live, first) in self._held.items():
            live.copy_(values.get(name, first))

    @torch.no_grad()
    def put_between(self, values: Mapping[str, Tensor], share: float) -> None:
        """Part of the way from the first values (0) to the given ones (1)."""
        for name, (live, first) in self._held.items():
            if name in values:
                start, end = first.to(live.device), values[name].to(live.device)
                live.copy_(end if share == 1 else start.float() + share * (end.float() - start.float()))
            else:
                live.copy_(first)

    def changed(self) -> int:
        """Elements whose value is another one now."""
        return sum(int((live != first.to(live.device)).sum()) for live, first in self._held.values())

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Inside, the model is the unrepaired one."""
        now = self.snapshot()
        self.put({})
        try:
            yield
        finally:
            self.put(now)

    def _copy(self, parameter: Tensor) -> Tensor:
        held = parameter.detach()
        return held.to(self._keep_on, copy=True) if self._keep_on else held.clone()


# The patch of a repaired language model, in the names and types of its files.


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
