"""Which file imports which, as far as names tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netmend.locate.paths import dotted
from netmend.locate.postings import Floats, Ints

_AMBIGUOUS = -1


@dataclass(frozen=True)
class ImportGraph:
    importing: Ints  # rows of files, edge by edge
    imported: Ints

    def importers(self, n_files: int) -> Floats:
        """How many files import each file."""
        return np.bincount(self.imported, minlength=n_files).astype(float)


class ModuleNames:
    """Dotted names and the files that they stand for, whatever folder the package lies in."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._exact: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        for row, path in enumerate(paths):
            name = dotted(path)
            self._exact[name] = row
            parts = name.split(".")
            for start in range(1, len(parts) - 1):
                end = ".".join(parts[start:])
                self._ends[end] = _AMBIGUOUS if end in self._ends else row

    def file_of(self, name: str) -> int | None:
        """The file of a module; names of one part must be the whole path, or `os` would be a/b/os.py."""
        found = self._exact.get(name, self._ends.get(name) if "." in name else None)
        return None if found == _AMBIGUOUS else found

    def resolve(self, imported: str, path: str) -> int | None:
        """The file that an import in the file at `path` means; `from a import b` may mean the module a.b."""
        module, _, name = imported.partition(":")
        if module.startswith("."):
            level = len(module) - len(module.lstrip("."))
            folders = path.split("/")[:-1]
            if level - 1 > len(folders):
                return None
            base = folders[: len(folders) - (level - 1)]
            module = ".".join([*base, *filter(None, module.lstrip(".").split("."))])
            candidates = [f"{module}.{name}" if module else name, module]
            return next((self._exact[c] for c in candidates if c in self._exact), None)
        if name:
            inner = self.file_of(f"{module}.{name}")
            if inner is not None:
                return inner
        found = self.file_of(module)
        if found is None and "." not in module:
            beside = "/".join([*path.split("/")[:-1], f"{module}.py"])  # scripts import their neighbours
            found = self._exact.get(dotted(beside))
        return found


def link_imports(paths: Sequence[str], imports: Sequence[str]) -> ImportGraph:
    """The graph from each file's imports, one per line."""
    names = ModuleNames(paths)
    importing: list[int] = []
    imported: list[int] = []
    for row, (path, lines) in enumerate(zip(paths, imports, strict=True)):
        found = {names.resolve(line, path) for line in lines.split("\n") if line} if lines else set()
        for target in found - {None, row}:
            assert target is not None
            importing.append(row)
            imported.append(target)
    return ImportGraph(np.array(importing, np.int32), np.array(imported, np.int32))
