"""A proven patch put into the user's files: whole or not at all, with the originals kept beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from netmend.errors import UsageError
from netmend.repair.result import Result
from netmend.syntax.files import write
from netmend.vocabulary.verification import PROVEN


def apply_result(result: Result) -> Iterator[str]:
    """Apply the patch and tell what was done, a line each. Refuses when a file is not as it was when the repair began."""
    if result.verdict != PROVEN:
        yield f"nothing was applied: the verdict is {result.verdict}, and only proven patches are"
        return
    files = {
        Path(result.directory) / name: (name, text) for name, text in sorted(result.version.texts.items())
    }
    before = {path: path.read_bytes() for path in files}
    for path, (name, _) in files.items():
        if before[path] != _bytes(result.version.originals[name]):
            raise UsageError(
                f"{name} changed while it was repaired; nothing was applied. Run netmend repair again"
            )
    done: list[Path] = []
    try:
        for path, (name, text) in files.items():
            kept = _keep(path, before[path])
            write(path, before[path], text, "utf-8")
            done.append(path)
            yield f"{name} patched; the original is {kept.name}"
    except BaseException:
        for path in done:  # all files or none
            path.write_bytes(before[path])
        raise
    if result.new_arguments is not None:
        yield f"start it with: {' '.join((result.script, *result.new_arguments))}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _keep(path: Path, data: bytes) -> Path:
    """The original beside the file; an earlier original is never overwritten."""
    number = 0
    while True:
        kept = path.with_name(f"{path.name}.orig" if not number else f"{path.name}.orig{number}")
        try:
            with kept.open("xb") as file:
                file.write(data)
            return kept
        except FileExistsError:
            if kept.read_bytes() == data:
                return kept
            number += 1
