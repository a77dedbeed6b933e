"""A causal language model from a local folder: never from the network, never with code of its own, never unpickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from netmend.errors import MissingExtra, UsageError


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
