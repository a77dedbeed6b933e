"""Files: where an export goes, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from netmend.errors import UsageError
from netmend.vocabulary.trace import Trace


def target(trace: Trace, destination: Path, suffix: str) -> Path:
    """The file to write: the destination itself, or one named after the run when it is a directory."""
    if destination.is_dir():
        return destination / f"{trace.run.name or 'run'}{suffix}"
    return destination if destination.suffix else destination.with_name(destination.name + suffix)


def refuse_existing(paths: list[Path], force: bool) -> None:
    for path in paths:
        if path.is_dir():
            raise UsageError(f"{path} is a directory; give another name to export to")
        if path.exists() and not force:
            raise UsageError(f"{path} exists already; choose another name or replace it with --force")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well and vanishes otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
