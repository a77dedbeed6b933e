"""A copy of the program's folder for one trial, so that nothing of the user's is touched.

Sources and small files are copied. Of large data the copy holds links, which trials may read and not write (`guards.py`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".netmend",
        ".venv",
        "venv",
        "env",
        "node_modules",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".idea",
        ".vscode",
        ".ipynb_checkpoints",
        "wandb",
        "mlruns",
        "lightning_logs",
    ]
)
SOURCES = (".py", ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".txt")
_SOURCE_BYTES = 1_000_000
_COPIED_BYTES = 32_000_000  # a larger file is linked
_TOTAL_BYTES = 512_000_000  # beyond this, whatever is no source is linked
_MOST_FILES = 20_000


@dataclass(frozen=True)
class Entry:
    relative: str
    size: int
    modified: int

    @property
    def is_source(self) -> bool:
        return self.relative.endswith(SOURCES) and self.size <= _SOURCE_BYTES


def entries(directory: Path) -> Iterator[Entry]:
    """The files of a program's folder, shallow ones first; a folder that is too large is cut off."""
    waiting, count = [directory], 0
    while waiting:
        folder = waiting.pop(0)
        try:
            found = sorted(os.scandir(folder), key=lambda item: item.name)
        except OSError:
            continue
        for item in found:
            if item.is_dir(follow_symlinks=False):
                if item.name not in SKIPPED and not (Path(item.path) / "pyvenv.cfg").exists():
                    waiting.append(Path(item.path))
            elif item.is_file():
                count += 1
                if count > _MOST_FILES:
                    return
                state = item.stat()
                yield Entry(os.path.relpath(item.path, directory), state.st_size, state.st_mtime_ns)


def fingerprint(directory: Path) -> str:
    """Changes when a source of the program does, or the size or date of another file."""
    digest = hashlib.sha256()
    for entry in entries(directory):
        digest.update(entry.relative.encode(errors="surrogateescape"))
        if entry.is_source:
            digest.update((directory / entry.relative).read_bytes())
        else:
            digest.update(f"{entry.size} {entry.modified}".encode())
    return digest.hexdigest()[:24]


def make(directory: Path, copy: Path, texts: tuple[tuple[str, str], ...]) -> None:
    """Make the copy and put the trial's texts into it."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    total = 0
    for entry in entries(directory):
        source, target = directory / entry.relative, copy / entry.relative
        target.parent.mkdir(parents=True, exist_ok=True)
        total += entry.size
        if entry.is_source or (entry.size <= _COPIED_BYTES and total <= _TOTAL_BYTES):
            shutil.copy2(source, target)
        else:
            target.symlink_to(source.resolve())
    for relative, text in texts:
        target = copy / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def strip(copy: Path) -> None:
    """After a trial only the sources stay: lines of its report stand in them."""
    for folder, folders, files in os.walk(copy, topdown=False):
        for name in files:
            path = Path(folder) / name
            if path.is_symlink() or not (name.endswith(SOURCES) and path.stat().st_size <= _SOURCE_BYTES):
                path.unlink(missing_ok=True)
        for name in folders:
            path = Path(folder) / name
            if path.is_symlink():
                path.unlink()
            elif not any(path.iterdir()):
                path.rmdir()
