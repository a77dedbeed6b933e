"""A proven patch put into the user's files: whole or not at all, with the originals kept beside them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from netmend.errors import UsageError
from netmend.program.text.files import write
from netmend.repair.result import Result
from netmend.vocabulary.verification import PROVEN


def apply_result(result: Result) -> Iterator[str]:
    """Apply the patch and tell what was done, a line each. Refuses when a file is not as it was when the repair began."""
    if result.verdict != PROVEN:
        yield f"nothing was applied: the verdict is {result.verdict}, and only proven patches are"
        return
    files = {
        Path(result.directory) / name: (name, text) for name, text in sorted(result.version.texts.items())
    }
    before = {path: _read(path) for path in files}
    for path, (name, _) in files.items():
        if before[path] != _bytes(result.version.originals[name]):
            raise UsageError(
                f"{name} changed while it was repaired; nothing was applied. Run netmend repair again"
            )
    # Everything is written before anything is told: a reader that goes away must not leave half of it.
    kept = _written({path: (data, _bytes(files[path][1])) for path, data in before.items()})
    for path, (name, _) in files.items():
        yield f"{name} patched; the original is {kept[path].name}"
    if result.new_arguments is not None:
        yield f"start it with: {shlex.join((result.script, *result.new_arguments))}"


def _written(files: Mapping[Path, tuple[bytes, bytes]]) -> dict[Path, Path]:
    """Write all files or none; where their originals are kept."""
    kept: dict[Path, Path] = {}
    made: list[Path] = []
    done: list[Path] = []
    try:
        for path, (old, new) in files.items():
            kept[path], is_new = _keep(path, old)
            made += [kept[path]] if is_new else []
            write(path, old, new.decode("latin-1"), "latin-1")  # the bytes as they are, whatever they mean
            done.append(path)
    except BaseException:
        for path in done:
            path.write_bytes(files[path][0])
        for copy in made:
            copy.unlink(missing_ok=True)
        raise
    return kept


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UsageError(f"{path} cannot be read ({problem.strerror}); nothing was applied") from None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _keep(path: Path, data: bytes) -> tuple[Path, bool]:
    """The original beside the file, and whether it was put there now; an earlier original is never overwritten."""
    number = 0
    while True:
        kept = path.with_name(f"{path.name}.orig" if not number else f"{path.name}.orig{number}")
        try:
            with kept.open("xb") as file:
                file.write(data)
            return kept, True
        except FileExistsError:
            if kept.is_file() and kept.read_bytes() == data:
                return kept, False
            number += 1
        except OSError as problem:
            raise UsageError(f"{kept} cannot be written ({problem.strerror}); nothing was applied") from None
