"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netmend.errors import UsageError


def beside(path: Path) -> Path:
    """A name for a temporary file or folder in the same folder, so that it can be renamed in one step."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary file to write to; it takes the place of the path when all went well, and goes otherwise."""
    refuse_no_folder(path)
    temporary = beside(path)
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror or problem}") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def folder_whole(path: Path) -> Iterator[Path]:
    """The same for a folder, which must not be there yet."""
    refuse_no_folder(path)
    temporary = beside(path)
    try:
        temporary.mkdir()
        yield temporary
        temporary.rename(path)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync(path: Path) -> None:
    """Onto the disk before it is renamed: otherwise a power cut could leave an empty file in place of a good one."""
    # A copy of a read-only file is read-only, too; only Windows insists on writing for this.
    with path.open("rb" if os.name == "posix" else "rb+") as file:
        os.fsync(file.fileno())


def refuse_no_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise UsageError(f"the folder {path.absolute().parent} does not exist; create it first")
