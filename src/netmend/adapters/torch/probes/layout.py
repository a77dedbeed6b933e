"""Images: are they smooth as they lie, or only when their memory is read as if channels came last?"""

from __future__ import annotations

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Bench, Found

WHAT = "layout"
_CHANNELS = (2, 3, 4)
_SMALLEST = 8  # pixels on a side


@torch.no_grad()
def examine(bench: Bench) -> Found | None:
    images = next((leaf for leaf in bench.batched if leaf.dim() == 4 and leaf.is_floating_point()), None)
    if images is None:
        return None
    channels, height, width = images.shape[1:]
    if channels not in _CHANNELS or min(height, width) < _SMALLEST:
        return None
    images = images.detach()[:16].float()
    again = images.reshape(len(images), height, width, channels).permute(0, 3, 1, 2)
    scale = float(images.std())
    if not scale or not bool(torch.isfinite(images).all()):
        return None
    return Found(
        {
            "given": roughness(images) / scale,
            "channels_last": roughness(again) / scale,
            "channels": channels,
            "height": height,
            "width": width,
        },
        bench.call.site,
    )


def roughness(images: Tensor) -> float:
    """Mean difference of neighbouring pixels."""
    across = (images[..., :, 1:] - images[..., :, :-1]).abs().mean()
    down = (images[..., 1:, :] - images[..., :-1, :]).abs().mean()
    return float(across + down) / 2
