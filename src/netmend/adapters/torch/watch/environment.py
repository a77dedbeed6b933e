"""Facts about where the program runs, read from the framework."""

from __future__ import annotations

import os
import platform
from typing import Any

import torch


def environment() -> dict[str, Any]:
    """Fields of an EnvironmentFact that are known at the start; initialises no device."""
    version = torch.__version__
    return {
        "python": platform.python_version(),
        "framework": f"torch {version}",
        "numpy": _numpy_version(),
        "platform": platform.platform(terse=True),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "rank": int(os.environ.get("RANK", "0")),
        "world_size": int(os.environ.get("WORLD_SIZE", "1")),
    }


def _numpy_version() -> str:
    import numpy

    return str(numpy.__version__)


def conditions(module: torch.nn.Module) -> dict[str, Any]:
    """What is known once a model runs: its device, and the precision that is chosen for it."""
    first = next(module.parameters(), None)
    if first is None:
        return {}
    kind = first.device.type
    found: dict[str, Any] = {"device": device_name(first.device)}
    if torch.is_autocast_enabled(kind):
        found["autocast"] = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    return found


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return f"cuda: {torch.cuda.get_device_name(device)}"
    return device.type
