"""Which version of a library the checked code would meet: the installed one, else the newest that is known here."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata

Version = tuple[int, ...]

NEWEST: dict[str, Version] = {
    "torch": (2, 13),
    "torchvision": (0, 28),
    "torchaudio": (2, 11),
    "torchtext": (0, 18),
    "numpy": (2, 4),
    "keras": (3, 13),
}


@cache
def installed(package: str) -> Version:
    """The version of a package, read from its metadata; the package itself is not imported."""
    try:
        found = version(metadata.version(package))
    except Exception:  # noqa: BLE001 - broken metadata of a package must not stop a check
        found = ()
    return found or NEWEST.get(package, ())


def version(text: str) -> Version:
    """`2.13.0+cpu` → (2, 13, 0)."""
    numbers = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in numbers.group().split(".")) if numbers else ()


def reached(package: str, since: str) -> bool:
    """Is the installed version this one or a later one?"""
    return bool(since) and installed(package) >= version(since)


def fingerprint() -> str:
    """All versions that findings depend on, for the cache."""
    return " ".join(f"{package}-{'.'.join(map(str, installed(package)))}" for package in sorted(NEWEST))
