"""OpenCV: pictures read from files, and masks given another size."""

from __future__ import annotations

import sys
from typing import Any

from netmend.adapters.preparation.pictures import lost, name_of, numbers_mixed, size_of
from netmend.adapters.preparation.watch import Preparation, Seen

_LARGEST = 4_000_000  # bytes of a file that is read once more
_OTHER_SIZE = ("resize", "warpAffine", "warpPerspective", "remap")


def watch(preparation: Preparation) -> None:
    cv2 = sys.modules["cv2"]
    read = cv2.imread

    def as_it_is(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        path = args[0] if args else kwargs.get("filename")
        if result is None or size_of(path) > _LARGEST:
            return {}
        raw = read(path, cv2.IMREAD_UNCHANGED)
        return lost(raw, result, name_of(path)) if raw is not None else {}

    preparation.wrap(cv2, "imread", "image", as_it_is, label="cv2.imread")
    for name in _OTHER_SIZE:
        preparation.wrap(cv2, name, "image", _resized, label=f"cv2.{name}")
    for name in ("flip", "rotate"):
        preparation.wrap(cv2, name, "image", _plain, label=f"cv2.{name}")


def _resized(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    return numbers_mixed(args[0] if args else kwargs.get("src"), result)


def _plain(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    return {}
