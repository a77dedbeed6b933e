"""A look at what a training has left behind, in its own process: the trained model is there and need not be saved and built again.

An examination is a module with `begin(options, folder)`, called before the program starts (to listen to what passes by), and
`end(options, finished)`, called after it has ended well. Both write what they find into the trial's folder. What they raise becomes a
note of the outcome; the training itself counts all the same.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from netmend.launch.run import Finished


def needed(examination: tuple[str, str], folder: Path) -> list[tuple[str, Path]]:
    """Files that an examination on another machine has to be given: name there, place here. A module may say so (`needs`)."""
    module = importlib.import_module(examination[0]) if examination[0] else None
    return (
        list(module.needs(examination[1], folder)) if module is not None and hasattr(module, "needs") else []
    )


@dataclass(frozen=True)
class Examiner:
    """The examination of one trial; none where the module is empty."""

    module: str
    options: str
    folder: Path
    note: Callable[[str], None]

    def begin(self) -> None:
        self._call("begin", self.folder)

    def end(self, finished: Finished) -> None:
        self._call("end", finished)

    def _call(self, name: str, what: Any) -> None:
        if not self.module:
            return
        try:
            module: ModuleType = importlib.import_module(self.module)
            getattr(module, name)(self.options, what)
        except Exception as problem:  # noqa: BLE001 - the training has run; its outcome is worth keeping
            self.note(f"the examination failed: {type(problem).__name__}: {problem}")


def examiner_of(examination: tuple[str, str], folder: Path, note: Callable[[str], None]) -> Examiner:
    return Examiner(*examination, folder, note)
