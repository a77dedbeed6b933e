"""Pillow: what is left of a picture when it is converted or handed over as numbers."""

from __future__ import annotations

import sys
from typing import Any
from zlib import crc32

import numpy as np

from netmend.adapters.preparation.pictures import lost, name_of, numbers_mixed
from netmend.adapters.preparation.watch import Preparation, Seen

_LARGEST = 4_000_000  # pixels
_SMALL_MODES = ("L", "RGB", "1", "P")
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")
_MORE = (*_DEEP_MODES, "RGBA", "LA", "PA", "La", "RGBa")


def watch(preparation: Preparation) -> None:
    image = sys.modules["PIL.Image"]
    preparation.wrap(image, "open", "image", _opened, label="PIL.Image.open")
    preparation.wrap(image.Image, "convert", "image", _converted, label="PIL.Image.convert")
    preparation.wrap(image.Image, "resize", "image", _resized, label="PIL.Image.resize")
    for name in ("rotate", "transpose", "crop"):
        preparation.wrap(image.Image, name, "image", _same, label=f"PIL.Image.{name}")
    # `np.array(image)` asks the picture for its bytes.
    preparation.wrap(image.Image, "tobytes", "image", _handed_over, label="PIL.Image as numbers", inside=True)


def _opened(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    """A picture is opened without being read: nothing more is asked than its head says."""
    path = args[0] if args else kwargs.get("fp")
    return {"modes": [str(result.mode)], "files": [name_of(path)], "format": str(result.format)}


def _converted(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    picture = args[0]
    is_drawing = picture.mode == "P" and "transparency" in picture.info
    if result.mode not in _SMALL_MODES or (picture.mode not in _MORE and not is_drawing):
        return None
    if picture.width * picture.height > _LARGEST:
        return None
    raw = np.asarray(picture.convert("RGBA") if is_drawing else picture)
    return {**lost(raw, np.asarray(result), _file(picture)), "modes": [picture.mode]}


def _resized(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    picture = args[0]
    if picture.mode not in ("L", "I", "P", "I;16") or picture.width * picture.height > _LARGEST:
        return None
    return numbers_mixed(np.asarray(picture), np.asarray(result))


def _same(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    return None


def _handed_over(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    picture = args[0]
    if len(args) > 1 or kwargs:  # bytes in a format of the caller's
        return None
    seen: dict[str, Any] = {"modes": [picture.mode], "pictures": [_file(picture) or str(id(picture) % 10**6)]}
    if picture.mode == "P":
        colours = bytes(picture.getpalette() or b"")
        if not _is_grey(colours):
            seen |= {"palettes": [crc32(colours)], "numbers": int(max(result)) if result else 0}
    return seen


def _is_grey(colours: bytes) -> bool:
    """Does every number stand for the grey of that number?"""
    return all(colours[at : at + 3] == bytes((at // 3,)) * 3 for at in range(0, len(colours), 3))


def _file(picture: Any) -> str:
    return name_of(getattr(picture, "filename", ""))
