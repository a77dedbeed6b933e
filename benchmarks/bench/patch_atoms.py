"""What a patch says about the fault: each of its parts names a cause, and the lines that it changes say in which layer."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from bench.codes import answer_of
from bench.faults22.facts import Atom
from bench.faults22.programs import Written
from netmend.program.text.positions import Lines
from netmend.program.text.spans import Span
from netmend.repair.version import Version
from netmend.vocabulary import Fault
from netmend.vocabulary.site import Site


def atoms_of_changes(version: Version, written: Written) -> tuple[Atom, ...]:
    """The causes of a patch's parts as codes with layers."""
    return answer_of(faults_of_changes(version, written), written)


def faults_of_changes(version: Version, written: Written) -> tuple[Fault, ...]:
    """A patch in the form of a diagnosis: one fault for each line of the original program that a part changes."""
    found: list[Fault] = []
    for index, part in enumerate(version.parts):
        before = Version(version.originals, version.arguments, version.parts[:index])
        lines: list[tuple[str, int]] = []
        for file, spans in part.spans.items():
            text = before.text(file, "")
            lines += [(file, line) for line in _lines(version.originals[file], text, spans, written)]
        for file, line in lines or [("", 0)]:
            site = Site(str(written.entry.parent / file), line) if line else None
            found.append(_as_fault(part.change.cause, part.change.title, site))
    return tuple(dict.fromkeys(found))


def _as_fault(cause: str, title: str, site: Site | None) -> Fault:
    return Fault(cause, 1.0, "", site, title, "", title, "", title=title)


def _lines(original: str, text: str, spans: tuple[Span, ...], written: Written) -> list[int]:
    """Lines of the original; where some of them make a layer, only those: an import at the top says nothing about layers."""
    places, known = Lines(text), {line for place in written.layers.values() for line in place.lines}
    opcodes = difflib.SequenceMatcher(
        None, original.splitlines(), text.splitlines(), autojunk=False
    ).get_opcodes()
    found = list(dict.fromkeys(line for span in spans for line in _touched(places, opcodes, span, known)))
    return [line for line in found if line in known] or found


def _touched(
    places: Lines, opcodes: Sequence[tuple[str, int, int, int, int]], span: Span, known: set[int]
) -> Iterator[int]:
    first = places.place(span.start)[0]
    last = places.place(max(span.start, span.end - 1))[0]
    for line in range(first, last + 1):
        here = _back(opcodes, line)
        if span.start == span.end and here not in known and here - 1 in known:
            here -= 1  # what is put behind a layer belongs to it
        yield here


def _back(opcodes: Sequence[tuple[str, int, int, int, int]], line: int) -> int:
    """The line of the original that a line came from; within a changed piece, as far into it as it goes."""
    for _, a, b, c, d in opcodes:
        if c <= line - 1 < d:
            return a + min(line - 1 - c, max(0, b - a - 1)) + 1
    return opcodes[-1][2] if opcodes else line
