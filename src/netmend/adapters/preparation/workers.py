"""What forked workers of a loader see: each leaves it in a file of its own, and the parent collects the files at the end."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from netmend.vocabulary import PreparationFact

_MOST = 4  # workers of a program that are watched; the others see the same lines


class Workers:
    def __init__(self) -> None:
        self._parent = os.getpid()
        self._folder: Path | None = None
        self._file: Path | None = None  # in a worker
        self._loader = ""
        self._left: dict[str, PreparationFact] = {}

    def expect(self) -> None:
        """Before workers are forked."""
        if self._folder is None and self._file is None:
            self._folder = Path(tempfile.mkdtemp(prefix="netmend-workers-"))

    def begin(self, loader: str) -> bool:
        """In a worker: whether it is watched."""
        folder, self._folder = self._folder, None
        if folder is None or not loader or self._file is not None:
            self._file = None
            return False
        with suppress(OSError):
            if len(list(folder.iterdir())) < _MOST:
                self._loader, self._file = loader, folder / str(os.getpid())
                self._file.touch()
        return self._file is not None

    def leave(self, fact: PreparationFact) -> None:
        if self._file is None:
            return
        self._left[fact.name] = fact
        part = self._file.with_suffix(".part")
        part.write_bytes(pickle.dumps((self._loader, list(self._left.values()))))
        part.replace(self._file)

    def collect(self) -> Iterator[tuple[str, PreparationFact]]:
        """Loader and fact, for all that the workers have left."""
        if self._folder is None or os.getpid() != self._parent:
            return
        folder, self._folder = self._folder, None
        for file in sorted(folder.iterdir()):
            with suppress(OSError, EOFError, pickle.UnpicklingError):
                if file.stat().st_size and not file.suffix:
                    loader, facts = pickle.loads(file.read_bytes())
                    yield from ((loader, fact) for fact in facts)
        shutil.rmtree(folder, ignore_errors=True)
