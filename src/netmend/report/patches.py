"""Patches as lines to be shown, and where each of their changes lies in the program as it is."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from netmend.program.text.files import diff
from netmend.program.text.spans import Span
from netmend.repair.version import Version
from netmend.report.content import FILE, HUNK, NEW, NOTE, OLD, SAME, DiffLine
from netmend.report.machine import Fields
from netmend.report.signs import harmless

_KINDS = {"@": HUNK, "-": OLD, "+": NEW, "\\": NOTE}


def version_lines(version: Version, script: str) -> tuple[DiffLine, ...]:
    """What has to change: the patch, and the arguments in the same form where these do."""
    patches = (diff(file, version.originals[file], text) for file, text in sorted(version.texts.items()))
    lines = [line for patch in patches for line in patch_lines(patch.split("\n")[:-1])]
    if version.current_arguments != version.arguments:
        lines.append(DiffLine(FILE, "arguments"))
        for kind, sign, arguments in ((OLD, "-", version.arguments), (NEW, "+", version.current_arguments)):
            lines.append(DiffLine(kind, f"{sign}{harmless(start_words(script, arguments))}"))
    return tuple(lines)


def patch_lines(patch: Iterable[str]) -> Iterator[DiffLine]:
    """The lines of one file's patch, of which the first two name the file."""
    for index, line in enumerate(patch):
        if index < 2:
            yield DiffLine(FILE, harmless(line.rstrip("\t")))
        else:
            yield DiffLine(_KINDS.get(line[:1], SAME), harmless(line.removesuffix("\r")))


def start_words(script: str, arguments: Iterable[str]) -> str:
    """Script and arguments as they are typed."""
    return shlex.join((script, *arguments))


def change_data(version: Version, fields: Fields) -> list[dict[str, Any]]:
    """For machines: every change of a version by the fields of a change, with its file and line."""
    return [
        {**fields(part.change), **dict(zip(("file", "line"), place or (None, None), strict=True))}
        for part, place in zip(version.parts, places(version), strict=True)
    ]


def places(version: Version) -> tuple[tuple[str, int] | None, ...]:
    """For every part the first file that it changes and the line in the original; None where it only changes arguments."""
    return tuple(_place(version, index) for index in range(len(version.parts)))


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
