"""The patch of a repair, line by line, and where each of its changes lies in the program as it is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.text.files import diff
from netmend.program.text.spans import Span
from netmend.repair.result import Result
from netmend.repair.version import Version

FILE, HUNK, OLD, NEW, SAME, NOTE = "file", "hunk", "old", "new", "same", "note"
_KINDS = {"@": HUNK, "-": OLD, "+": NEW, "\\": NOTE}


@dataclass(frozen=True)
class DiffLine:
    kind: str  # file | hunk | old | new | same | note
    text: str  # with the sign before it


def diff_lines(result: Result) -> tuple[DiffLine, ...]:
    """What has to change: the patch, and the arguments in the same form where these do."""
    return (*_patch_lines(result.version), *_argument_lines(result))


def start_words(result: Result, arguments: tuple[str, ...]) -> str:
    """Script and arguments as they are typed."""
    return shlex.join((result.script, *arguments))


def places(version: Version) -> tuple[tuple[str, int] | None, ...]:
    """For every part the first file that it changes and the line in the original; None where it only changes arguments."""
    return tuple(_place(version, index) for index in range(len(version.parts)))


def _patch_lines(version: Version) -> Iterator[DiffLine]:
    for file, text in sorted(version.texts.items()):
        lines = diff(file, version.originals[file], text).split("\n")[:-1]
        yield from (DiffLine(FILE, line.rstrip("\t")) for line in lines[:2])
        yield from (DiffLine(_KINDS.get(line[:1], SAME), line.removesuffix("\r")) for line in lines[2:])


def _argument_lines(result: Result) -> Iterator[DiffLine]:
    new = result.new_arguments
    if new is not None:
        yield DiffLine(FILE, "arguments")
        yield DiffLine(OLD, f"-{start_words(result, result.version.arguments)}")
        yield DiffLine(NEW, f"+{start_words(result, new)}")


def _place(version: Version, index: int) -> tuple[str, int] | None:
    earlier = version.parts[:index]
    before = Version(version.originals, version.arguments, earlier)
    for file, spans in sorted(version.parts[index].spans.items()):
        span = min(spans, key=lambda item: item.start)
        removed = before.text(file, "")[span.start : span.end]
        # A removed line goes with the line end before it: the line meant is the one with words on it.
        offset = span.start + (len(removed) - len(removed.lstrip()) if removed.strip() else 0)
        for part in reversed(earlier):
            offset = _before(part.spans.get(file, ()), offset)
        return file, version.originals[file].count("\n", 0, offset) + 1
    return None


def _before(spans: tuple[Span, ...], offset: int) -> int:
    """From the text after edits to the text before; what they wrote counts as the place where they wrote it."""
    shift = 0
    for span in sorted(spans, key=lambda item: item.start):
        start = span.start + shift
        if offset <= start:
            break
        if offset < start + len(span.text):
            return span.start
        shift += len(span.text) - (span.end - span.start)
    return offset - shift
