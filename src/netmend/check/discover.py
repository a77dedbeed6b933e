"""Which files to check: what is given, and below a folder every `.py` and `.ipynb`, in a fixed order.

Folders that hold no code of the user's are skipped by their names, and virtual environments and caches by the files
that mark them. Links to folders are not followed, so that loops and links into data stores cost nothing; a link or a
skipped name that is given directly is looked into.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from netmend.errors import UsageError

ENDINGS = (".py", ".ipynb")
SKIPPED = frozenset(
    (
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".eggs",
        ".netmend",
        ".direnv",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".vscode",
        ".idea",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
        "build",
        "dist",
        "_build",
    )
)
LOCKS = (".#", "._")  # what an editor or a file system leaves beside a file
MARKERS = frozenset(("pyvenv.cfg", "CACHEDIR.TAG"))  # a virtual environment, a cache


@dataclass(frozen=True)
class Exclusion:
    """Patterns of paths: one without a slash names any file or folder, one with a slash counts from the root."""

    patterns: tuple[str, ...] = ()
    root: str = ""  # folder of the configuration that holds them

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        return _either(pattern for pattern in self.patterns if "/" not in pattern.strip("/"))

    @cached_property
    def _paths(self) -> re.Pattern[str] | None:
        return _either(pattern for pattern in self.patterns if "/" in pattern.strip("/"))

    def __call__(self, path: str) -> bool:
        """Whether a path, or a folder above it and below the root, is meant."""
        if not self.patterns:
            return False
        inside = path.startswith(self.root + os.sep) if self.root else False
        relative = (path[len(self.root) + 1 :] if inside else path).replace(os.sep, "/").strip("/")
        parts = relative.split("/")
        names, paths = self._names, self._paths
        if names is not None and any(names.match(part) for part in (parts if inside else parts[-1:])):
            return True
        return paths is not None and any(
            paths.match("/".join(parts[:count])) for count in range(1, len(parts) + 1)
        )


def _either(patterns: Iterable[str]) -> re.Pattern[str] | None:
    # `**/` may also stand for no folder at all.
    plain = [pattern.strip("/").removeprefix("./") for pattern in patterns]
    spelled = [
        variant
        for pattern in plain
        for variant in {pattern, pattern.replace("**/", ""), pattern.rstrip("*/")}
    ]
    return re.compile("|".join(fnmatch.translate(one) for one in spelled if one)) if spelled else None


def discover(
    paths: Sequence[str], exclude: Exclusion | None = None, force_exclude: bool = False
) -> list[str]:
    """The absolute paths of all files to check. A file given directly is taken whatever it is called."""
    exclude = exclude or Exclusion()
    found: dict[str, None] = {}
    for given in paths:
        path = absolute(given)
        if os.path.isdir(path):  # noqa: PTH112 - the walk works on plain strings, for speed
            if not (force_exclude and exclude(path)):
                found.update(dict.fromkeys(_walk(path, exclude)))
        elif not os.path.lexists(path):
            raise UsageError(f"{given} does not exist; give files, folders, or - for standard input")
        elif not (force_exclude and exclude(path)):
            found[path] = None
    return list(found)


def absolute(path: str) -> str:
    try:
        return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
    except ValueError as problem:
        raise UsageError(f"{path!r} is no path: {problem}") from None


def _walk(top: str, exclude: Exclusion) -> Iterator[str]:
    """Files of a folder in order of their names, then its folders. What cannot be listed is passed over."""
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if folder != top and not MARKERS.isdisjoint(entry.name for entry in listed):
            continue
        below = []
        for entry in listed:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in SKIPPED and not exclude(entry.path):
                    below.append(entry.path)
            elif (
                name.endswith(ENDINGS)
                and not name.startswith(LOCKS)
                and not exclude(entry.path)
                and not _is_folder(entry)
            ):
                yield entry.path
        folders.extend(reversed(below))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:
        return False  # a link that loops: it is reported as a file that cannot be read
