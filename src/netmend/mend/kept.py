"""Attempts on disk, by their content: what was tried once is never tried again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.mend.files import written_whole
from netmend.mend.gate import Tally
from netmend.mend.patch_file import read_patch, write_patch
from netmend.mend.result import Tried
from netmend.store.places import home

_FORM = 1
_TALLIES = ("seen", "validation", "unseen")
_PLAIN = ("method", "rate", "seconds", "steps", "part", "notes")


def attempts_folder(directory: Path | None) -> Path:
    """Below the directory that was named, $NETMEND_DIR, or `.netmend` in the working directory."""
    return home(directory) / "mend"


def key_of(*facts: Any) -> str:
    """A name for an attempt: everything that decides how it ends."""
    text = json.dumps([_FORM, *facts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Kept:
    """Attempts in a folder: a patch, and beside it what it did. None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise UsageError(
                    f"attempts cannot be kept in {folder}: {problem.strerror or problem}; name another --directory"
                ) from None

    def get(self, key: str) -> Tried | None:
        """What was kept; a damaged or foreign file is as none."""
        if self._folder is None:
            return None
        try:
            held = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            patch = read_patch(self._folder / f"{key}.safetensors")
            facts: dict[str, Any] = {name: Tally(**held.pop(name)) for name in _TALLIES}
            facts["notes"] = tuple(str(note) for note in held.pop("notes"))
            return Tried(patch=patch, known=True, **facts, **held)
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, UsageError):
            return None

    def put(self, key: str, tried: Tried) -> None:
        if self._folder is None:
            return
        write_patch(tried.patch, self._folder / f"{key}.safetensors")
        facts: dict[str, Any] = {name: getattr(tried, name) for name in _PLAIN}
        facts |= {name: asdict(getattr(tried, name)) for name in _TALLIES}
        # Last, since it says that the attempt is complete.
        with written_whole(self._folder / f"{key}.json") as temporary:
            temporary.write_text(json.dumps(facts, indent=1), encoding="utf-8")
