"""A mended text on its way to disk: shown as a diff, or written so that the file is never half of each."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import stat
import tempfile
from pathlib import Path

from netmend.errors import UsageError

_NO_LINE_END = "\\ No newline at end of file\n"
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')


def write(path: Path, old: bytes, new: str, encoding: str = "utf-8") -> None:
    """Put a new text in the place of the bytes that were read; a link stays and its target changes.

    The text is written beside the file and moved over it, so that a crash leaves one of the two, whole.
    """
    try:
        data = new.encode(encoding)
    except (UnicodeEncodeError, LookupError) as problem:
        raise UsageError(
            f"{path} was left as it is: the mended text does not fit {encoding} ({problem})"
        ) from None
    target = Path(os.path.realpath(path))
    try:
        _replace(path, target, old, data)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise UsageError(f"{path} was left as it is: it cannot be written ({reason})") from None


def _replace(path: Path, target: Path, old: bytes, data: bytes) -> None:
    _refuse_changed(path, target, old)
    before = target.stat()
    if not before.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        # Moving over it would work all the same, but its owner did not want it changed.
        raise UsageError(f"{path} was left as it is: the file is read-only")
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".netmend", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _same_owner_and_mode(file.fileno(), before)
            os.fsync(file.fileno())
        _refuse_changed(path, target, old)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _settle(target.parent)


def _refuse_changed(path: Path, target: Path, old: bytes) -> None:
    if target.read_bytes() != old:
        raise UsageError(
            f"{path} was left as it is: it changed while it was checked; run netmend check again"
        )


def _same_owner_and_mode(handle: int, before: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):  # only the owner itself or root may; the mode matters more
            os.fchown(handle, before.st_uid, before.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _settle(directory: Path) -> None:
    """Make the move itself durable where directories can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def diff(path: str, old: str, new: str) -> str:
    """What would change, in the form that `git apply` and `patch -p1` take; empty if nothing does."""
    if old == new:
        return ""
    # Relative to the root where it is absolute: both programs refuse absolute names.
    name = path.replace("\\", "/").lstrip("/").removeprefix("./")
    lines = difflib.unified_diff(_lines(old), _lines(new), _name(f"a/{name}"), _name(f"b/{name}"))
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_LINE_END}" for line in lines)


def _lines(text: str) -> list[str]:
    """As diff programs count them: only `\\n` ends a line."""
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _name(name: str) -> str:
    """As git writes names: a tab ends one with blanks, signs that would end the line are escaped."""
    escaped = _SPECIAL.sub(lambda sign: f"\\{ord(sign[0]):03o}", name)
    if escaped != name:
        return f'"{escaped}"'
    return f"{name}\t" if " " in name else name
