"""Version: the program with some changes made; parts can be taken out again, and two changes of one thing become one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from netmend.program.text.files import diff
from netmend.program.text.spans import Span, carried_out, meet, spans_of
from netmend.repair.apply import by_file, is_whole, read
from netmend.vocabulary.change import Change, FileEdits


@dataclass(frozen=True)
class Part:
    """A change that was made, as spans in the texts as they were just before."""

    change: Change
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)  # by relative file
    arguments: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # before, after


@dataclass(frozen=True)
class Version:
    """Texts of the files that differ from the original, the arguments, and the parts in the order in which they were made."""

    originals: Mapping[str, str]  # texts of all files that any part touches, as the user has them
    arguments: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """Relative file → text, for files that differ."""
        texts = dict(self.originals)
        for part in self.parts:
            for file, spans in part.spans.items():
                texts[file] = carried_out(texts[file], spans)
        return {file: text for file, text in texts.items() if text != self.originals[file]}

    @property
    def current_arguments(self) -> tuple[str, ...]:
        arguments = self.arguments
        for part in self.parts:
            if part.arguments is not None:
                arguments = part.arguments[1]
        return arguments

    @property
    def knobs(self) -> frozenset[str]:
        return frozenset(part.change.knob for part in self.parts)

    def text(self, file: str, root: str) -> str:
        """A file's text in this version."""
        texts = self.texts
        if file in texts:
            return texts[file]
        if file in self.originals:
            return self.originals[file]
        return read(os.path.join(root, file))  # noqa: PTH118

    def extended(
        self,
        change: Change,
        root: str,
        original_root: str,
        edits: FileEdits | None = None,
        since: int | None = None,
    ) -> Version | None:
        """With one more change, whose edits are of files below `root`; None when they cannot be made.

        `since`: the edits were written for the version with only so many of the parts.
        """
        count = len(self.parts) if since is None else since
        spans: dict[str, tuple[Span, ...]] = {}
        originals = dict(self.originals)
        for file, own in by_file(change.edits if edits is None else edits).items():
            relative = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
            if relative.startswith(".."):
                return None
            if relative not in originals:
                try:
                    originals[relative] = read(os.path.join(original_root, relative))  # noqa: PTH118
                except OSError:
                    return None  # the program wrote it while it ran: the user has no such file
            seen = Version(originals, self.arguments, self.parts[:count]).text(relative, original_root)
            found = spans_of(seen, own)
            moved = _moved(found, [part.spans.get(relative, ()) for part in self.parts[count:]])
            text = Version(originals, self.arguments, self.parts).text(relative, original_root)
            if not found or moved is None or not is_whole(relative, carried_out(text, moved)):
                return None
            spans[relative] = tuple(moved)
        arguments = None if change.arguments is None else (self.current_arguments, change.arguments)
        if not spans and arguments is None:
            return None
        return Version(originals, self.arguments, (*self.parts, Part(change, spans, arguments)))

    def without(self, index: int) -> Version | None:
        """With one part taken out; None when a later part builds on it."""
        left_out = self.parts[index]
        kept: list[Part] = list(self.parts[:index])
        holes = {file: _written(spans) for file, spans in left_out.spans.items()}
        for part in self.parts[index + 1 :]:
            if part.arguments is not None and left_out.arguments is not None:
                return None
            moved: dict[str, tuple[Span, ...]] = {}
            for file, spans in part.spans.items():
                passed = _passed(holes.get(file, []), spans)
                if passed is None:
                    return None
                moved[file], holes[file] = passed
            kept.append(Part(part.change, moved, part.arguments))
        return Version(self.originals, self.arguments, tuple(kept))


@dataclass(frozen=True)
class _Hole:
    """What a part wrote, in the text with all parts; in the text without it, so many characters more lie there."""

    start: int
    end: int
    more: int

    def is_left_of(self, span: Span) -> bool:
        """Where both are empty and at one place, the hole is the one on the left."""
        return self.end <= span.start

    def is_under(self, span: Span) -> bool:
        return not self.is_left_of(span) and span.start <= self.start and self.end <= span.end

    def is_beside(self, span: Span) -> bool:
        return self.is_left_of(span) or span.end <= self.start


def _written(spans: tuple[Span, ...]) -> list[_Hole]:
    holes, shift = [], 0
    for span in spans:
        start = span.start + shift
        holes.append(_Hole(start, start + len(span.text), -_growth(span)))
        shift += _growth(span)
    return holes


def _passed(holes: list[_Hole], spans: tuple[Span, ...]) -> tuple[tuple[Span, ...], list[_Hole]] | None:
    """Spans in the text without the part that left the holes, and the holes after them; None where they build on it."""
    placed, kept = [], []
    for span in spans:
        if not all(hole.is_beside(span) or hole.is_under(span) for hole in holes):
            return None
        before = sum(hole.more for hole in holes if hole.is_left_of(span))
        inside = sum(hole.more for hole in holes if not hole.is_beside(span))
        placed.append(Span(span.start + before, span.end + before + inside, span.text))
    for hole in holes:
        if all(hole.is_beside(span) for span in spans):
            shift = sum(_growth(span) for span in spans if not hole.is_left_of(span))
            kept.append(_Hole(hole.start + shift, hole.end + shift, hole.more))
    return tuple(placed), kept


def _moved(spans: list[Span], later: list[tuple[Span, ...]]) -> list[Span] | None:
    """Spans of an older text in a newer one; None where they meet what was changed since."""
    for done in later:
        if any(meet(span, other) for span in spans for other in done):
            return None
        spans = [
            _shifted(span, sum(_growth(other) for other in done if other.end <= span.start)) for span in spans
        ]
    return spans


def _shifted(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.text)


def _growth(span: Span) -> int:
    return len(span.text) - (span.end - span.start)


class OfVersion:
    """What is told of a result by its version."""

    version: Version

    @property
    def patch(self) -> str:
        """The change as a unified diff; empty when there is none or only the arguments change."""
        texts = self.version.texts
        return "".join(diff(file, self.version.originals[file], text) for file, text in sorted(texts.items()))

    @property
    def new_arguments(self) -> tuple[str, ...] | None:
        """The program's arguments, when these are what has to change."""
        current = self.version.current_arguments
        return None if current == self.version.arguments else current

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.change.cause for part in self.version.parts))

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(part.change.title for part in self.version.parts)


def merged(version: Version) -> Version:
    """The last two parts turn the same knob: one part that leads from the text before both to the text after both."""
    *rest, first, second = version.parts
    if second.change.knob != first.change.knob:
        return version
    base = Version(version.originals, version.arguments, tuple(rest))
    spans: dict[str, tuple[Span, ...]] = {}
    for file in {**first.spans, **second.spans}:
        old, new = base.text(file, ""), version.text(file, "")
        start = _shared(old, new)
        end = _shared(old[start:][::-1], new[start:][::-1])
        spans[file] = (Span(start, len(old) - end, new[start : len(new) - end]),)
    title = _titled(first.change.title, second.change.title)
    arguments = second.arguments or first.arguments
    if first.arguments is not None and second.arguments is not None:
        arguments = (first.arguments[0], second.arguments[1])
    change = replace(second.change, title=title, cause=first.change.cause, forced=())
    return Version(version.originals, version.arguments, (*rest, Part(change, spans, arguments)))


def _titled(first: str, second: str) -> str:
    """`rate 1 → 0.1` and `rate 0.1 → 0.3` are `rate 1 → 0.3` together; `Adam, rate 0.1` and the latter, `Adam, rate 0.3`."""
    old, _, new = (part.strip() for part in second.rpartition("→"))
    value = old.rpartition(" ")[2]
    if value and (
        first.endswith(old) or (first.endswith(f"→ {value}") and first.split()[0] == old.split()[0])
    ):
        return f"{first[: -len(value)]}{new}"
    return f"{first}; {second}"


def _shared(one: str, other: str) -> int:
    """How many signs two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
