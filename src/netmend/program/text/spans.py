"""Edits in offsets: put side by side, carried out, and the way from old places to new ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import Edit


@dataclass(frozen=True)
class Span:
    """An edit in offsets."""

    start: int
    end: int
    text: str


def spans_of(text: str, edits: Iterable[Edit]) -> list[Span]:
    """Edits of one change in order; none where one lies outside the text or meets another."""
    spans = []
    for edit in dict.fromkeys(edits):
        span = span_of(text, edit)
        if span is None:
            return []
        spans.append(span)
    spans.sort(key=lambda span: (span.start, span.end))
    if any(meet(one, other) for one, other in pairwise(spans)):
        return []
    return spans


def span_of(text: str, edit: Edit) -> Span | None:
    lines = lines_of(text)
    start = lines.offset(edit.line, edit.column)
    end = lines.offset(edit.end_line, edit.end_column)
    if start is None or end is None or end < start:
        return None
    new = edit.text.replace("\r\n", "\n").replace("\n", lines.line_end(edit.line))
    return Span(start, end, new)


def meet(one: Span, other: Span) -> bool:
    """Whether two edits share a character, or an insertion touches the other: then their order would matter."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def carried_out(text: str, spans: Sequence[Span]) -> str:
    """The text after edits that are in order and do not meet; it ends with a line end if it did before."""
    parts, last = [], 0
    for span in spans:
        parts += [text[last : span.start], span.text]
        last = span.end
    new = "".join([*parts, text[last:]])
    ended = text.endswith(("\n", "\r"))
    if new and ended != new.endswith(("\n", "\r")):
        new = new + lines_of(text).line_end(1) if ended else new.rstrip("\r\n")
    return new


def moved(spans: Sequence[Span], offset: int) -> tuple[int, int]:
    """The new offsets between which an old one may lie; equal unless an edit covers or touches it."""
    shift = 0
    for span in spans:
        if offset < span.start:
            break
        if offset <= span.end:
            return span.start + shift, span.start + shift + len(span.text)
        shift += len(span.text) - (span.end - span.start)
    return offset + shift, offset + shift
