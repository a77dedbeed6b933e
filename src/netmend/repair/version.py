"""Version: the program with some changes made; parts can be taken out again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from netmend.repair.apply import by_file
from netmend.syntax.spans import Span, carried_out, spans_of
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
        from netmend.repair.apply import read

        return read(os.path.join(root, file))  # noqa: PTH118

    def extended(
        self, change: Change, root: str, original_root: str, edits: FileEdits | None = None
    ) -> Version | None:
        """With one more change, whose edits are of files below `root`; None when they cannot be made."""
        spans: dict[str, tuple[Span, ...]] = {}
        originals = dict(self.originals)
        for file, own in by_file(change.edits if edits is None else edits).items():
            relative = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
            if relative.startswith(".."):
                return None
            if relative not in originals:
                from netmend.repair.apply import read

                originals[relative] = read(os.path.join(original_root, relative))  # noqa: PTH118
            text = Version(originals, self.arguments, self.parts).text(relative, original_root)
            found = spans_of(text, own)
            if not found or not _is_python(relative, carried_out(text, found)):
                return None
            spans[relative] = tuple(found)
        arguments = None if change.arguments is None else (self.current_arguments, change.arguments)
        if not spans and arguments is None:
            return None
        return Version(originals, self.arguments, (*self.parts, Part(change, spans, arguments)))

    def without(self, index: int) -> Version | None:
        """With one part taken out; None when a later part builds on it."""
        kept: list[Part] = list(self.parts[:index])
        for later in range(index + 1, len(self.parts)):
            part = self.parts[later]
            if part.arguments is not None and self.parts[index].arguments is not None:
                return None
            moved: dict[str, tuple[Span, ...]] = {}
            for file, spans in part.spans.items():
                placed = []
                for span in spans:
                    start = self._back(file, span.start, later, index, kept)
                    end = self._back(file, span.end, later, index, kept)
                    if start is None or end is None:
                        return None
                    placed.append(Span(start, end, span.text))
                moved[file] = tuple(placed)
            kept.append(Part(part.change, moved, part.arguments))
        return Version(self.originals, self.arguments, tuple(kept))

    def _back(self, file: str, offset: int, later: int, index: int, kept: list[Part]) -> int | None:
        """An offset before part `later`, as it is when part `index` was never made."""
        place: int | None = offset
        for part in reversed(self.parts[index:later]):
            place = None if place is None else _undone(part.spans.get(file, ()), place)
        for part in kept[index:]:
            place = None if place is None else _done(part.spans.get(file, ()), place)
        return place


def _undone(spans: tuple[Span, ...], offset: int) -> int | None:
    """From the text after edits to the text before; None inside of what they wrote."""
    shift = 0
    for span in spans:
        start = span.start + shift
        end = start + len(span.text)
        if offset <= start:
            break
        if offset < end:
            return None
        shift += len(span.text) - (span.end - span.start)
    return offset - shift


def _done(spans: tuple[Span, ...], offset: int) -> int | None:
    shift = 0
    for span in spans:
        if offset <= span.start:
            break
        if offset < span.end:
            return None
        shift += len(span.text) - (span.end - span.start)
    return offset + shift


def _is_python(file: str, text: str) -> bool:
    if not file.endswith(".py"):
        return True
    try:
        compile(text, file, "exec", dont_inherit=True, flags=0x400)  # to a tree only
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
