"""Mending a model that lies in a file: its weights into the user's module, the patch for the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from netmend.errors import UsageError, needing_torch
from netmend.mend.change_model import patch_onto
from netmend.mend.model_files import open_model
from netmend.mend.options import MendOptions
from netmend.mend.result import Mended
from netmend.mend.session import Told, mend


def mend_file(
    path: Path,
    module: Any,
    failing: Any,
    guard: Any,
    validation: Any,
    options: MendOptions,
    device: str = "",
    told: Told = lambda stage: None,
) -> Mended:
    """The module was built by the user's function; what weights it has does not matter. The file stays as it is."""
    with needing_torch("mending needs PyTorch, which is not installed"):
        from netmend.mend.torch.case import refuse_unusable
        from netmend.mend.torch.state_file import device_for, load_weights
    place = device_for(device)
    stored = open_model(path)
    if not hasattr(module, "state_dict"):
        raise UsageError(
            f"the model function must return a torch.nn.Module; it returned {type(module).__name__}"
        )
    names = load_weights(module, stored, str(path))
    refuse_unusable(module)
    found = mend(module.to(place), failing, guard, validation, options, told)
    at = found.verdict.at
    tried = tuple(
        replace(one, patch=patch_onto(one.patch, stored, names, str(path))) if number == at else one
        for number, one in enumerate(found.tried)
    )
    return replace(found, model=str(path), tried=tried)
