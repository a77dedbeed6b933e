"""Where a model is mended."""

from __future__ import annotations

import torch

from netmend.errors import UsageError


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
