"""Bytes of a source file as text: declared encodings, wrong encodings, huge and generated files."""

from __future__ import annotations

import re
from dataclasses import dataclass

LARGEST = 1_000_000  # bytes that are looked into; hand-written files are far smaller
_LONG_LINE = 5_000  # characters; such lines are data or generated code
_DECLARED = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True)
class SourceText:
    text: str
    cut: bool  # only a part of the file


def decode(content: bytes) -> SourceText:
    """The text of a file; binary content gives no text at all."""
    cut = len(content) > LARGEST
    if cut:
        content = content[: content.rfind(b"\n", 0, LARGEST) + 1 or LARGEST]
    if b"\0" in content[:8_000]:
        return SourceText("", True)
    text = _text(content)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > _LONG_LINE and max(map(len, text.split("\n"))) > _LONG_LINE:
        kept = [line for line in text.split("\n") if len(line) <= _LONG_LINE]
        return SourceText("\n".join(kept), True)
    return SourceText(text, cut)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    for line in content.split(b"\n", 2)[:2]:
        declared = _DECLARED.match(line)
        if declared:
            try:
                return content.decode(declared.group(1).decode(), "replace")
            except (LookupError, UnicodeError, ValueError):
                break
    return content.decode("latin-1")
