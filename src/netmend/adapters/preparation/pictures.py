"""What of a picture in a file is left in what a program made of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from netmend.adapters.preparation.watch import Seen

_MOST_PIXELS = 4_000_000
_BYTE = 255


def name_of(path: Any) -> str:
    """A file's own name; "" for what is no path."""
    return Path(path).name if isinstance(path, str | os.PathLike) else ""


def size_of(path: Any) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, TypeError):
        return 1 << 60


def lost(raw: Any, kept: Any, file: str) -> Seen:
    """What a conversion dropped, from the pixels as they stand in the file and as they are afterwards; in counts."""
    seen: dict[str, Any] = {"pictures": [file], "mode": str(raw.dtype)}
    if raw.size > _MOST_PIXELS or kept.size == 0 or raw.size == 0:
        return seen
    alpha, colours = _taken_apart(raw)
    if kept.dtype == np.uint8 and raw.dtype.itemsize > 1 and colours.max() > _BYTE:
        values, left = len(np.unique(colours)), len(np.unique(kept))
        seen |= {
            "highest": int(colours.max()),
            "values": values,
            "values_left": left,
            "cut_off": round(float((colours > _BYTE).mean()), 4),
        }
        if left * 4 <= values and left <= 32:
            seen["flattened"] = [file]
        elif _is_cut_off(kept, colours):
            seen["clipped"] = [file]
    if alpha is not None and (kept.ndim == 2 or kept.shape[-1] < 4) and alpha.min() < alpha.max():
        seen["transparent"] = [file]
        if kept.min() == kept.max():
            seen["blank"] = [file]
    return seen


def _taken_apart(raw: Any) -> tuple[Any, Any]:
    """The alpha channel, where there is one, and the rest."""
    if raw.ndim == 3 and raw.shape[-1] in (2, 4):
        return raw[..., -1], raw[..., :-1]
    return None, raw


def _is_cut_off(kept: Any, colours: Any) -> bool:
    """Has everything above 255 become 255, and is that much of the picture?"""
    if kept.shape[:2] != colours.shape[:2] or kept.ndim != colours.ndim:
        return False
    beyond = colours > _BYTE
    return bool(
        beyond.mean() > 0.05 and (kept[beyond] == _BYTE).all() and len(np.unique(colours[beyond])) > 8
    )


def numbers_mixed(before: Any, after: Any) -> Seen | None:
    """Does a picture of a few whole numbers hold others once it has another size?"""
    if (
        not isinstance(before, np.ndarray)
        or not isinstance(after, np.ndarray)
        or before.dtype.kind not in "iu"
    ):
        return None
    if before.ndim != 2 or after.ndim != 2 or not before.size or before.size > _MOST_PIXELS:
        return None
    old = np.unique(before)
    if len(old) > 32:
        return {"grey": True}
    new = np.setdiff1d(np.unique(after), old)
    return {"few_values": [int(value) for value in old[:32]], "new_values": [float(value) for value in new[:32]],
            "mixed": round(float(np.isin(after, new).mean()), 4), "shape": list(after.shape)}  # fmt: skip
