"""Mutation: one fault seeded into a program; and the operators that propose them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from netmend.changes.case import Case
from netmend.program.source.values import Faces
from netmend.program.text.spans import Span, meet, spans_of
from netmend.repair.apply import applied, by_file, read
from netmend.testing.example import titled
from netmend.unit import Family, record
from netmend.vocabulary.change import FileEdits

Item = TypeVar("Item")


@dataclass(frozen=True)
class Mutation:
    """An edit of the user's program after which it has a known fault."""

    operator: str  # code of the operator, "M101"
    cause: str  # leaf of the taxonomy that is seeded
    title: str  # "learning rate 0.01 → 1"
    edits: FileEdits
    component: str = ""  # the layer, optimiser or loss that is touched
    value: float | None = None  # where on the scale of its knob it stands, see magnitude.py


class Operator:
    """Base of all operators. The docstring is the page: first line what it does to the program; then why that is a fault."""

    code: str
    causes: tuple[str, ...]  # leaves of the taxonomy that it can seed
    crashes: bool = False  # whether ending with an exception is what this fault does
    rescales: bool = False  # whether values of the loss cannot be compared with those of the original
    published: tuple[str, ...] = ()  # what DeepCrime, DeepMutation or other studies call it
    EXAMPLES: Any  # {"title": changed(...)}, a tuple of them once it is a unit

    def __init_subclass__(cls, code: str = "", **facts: Any) -> None:
        """`class BiasAdded(Operator, code="M422", causes=("LYR-BIAS-EXTRA",))` is a unit; a class without a code is a base of others."""
        for name, value in facts.items():
            setattr(cls, name, value)
        if code:
            cls.code, cls.EXAMPLES = code, titled(cls.EXAMPLES)
            OPERATORS.register(record(cls))

    def propose(self, case: Case) -> Iterator[Mutation]:
        """Mutations of the program, the mildest first; none where the place cannot be told for sure."""
        raise NotImplementedError

    def mutation(
        self,
        title: str,
        edits: FileEdits | Faces,
        *,
        cause: str = "",
        component: str = "",
        value: float | None = None,
    ) -> Iterator[Mutation]:
        """One mutation, or none when its edits cannot be made or leave the program as it was."""
        own = tuple(dict.fromkeys(edits.edits if isinstance(edits, Faces) else edits))
        texts = applied({}, own) if own else None
        if texts and all(text != read(file) for file, text in texts.items()):
            yield Mutation(self.code, cause or self.causes[0], title, own, component, value)


OPERATORS: Family[Operator] = Family("netmend.mutate.operators")


def every(case: Case, problems: list[str], codes: Collection[str] | None = None) -> list[Mutation]:
    """All mutations that all operators propose, or those of some codes; of two with the same edits the first counts.

    An operator that fails on a program goes into `problems`; what it proposed until then counts.
    """
    found: dict[FileEdits, Mutation] = {}
    for operator in OPERATORS.all():
        if codes is None or operator.code in codes:
            for each in until_failure(operator.code, operator.propose(case), problems):
                found.setdefault(each.edits, each)
    return list(found.values())


def until_failure(code: str, items: Iterator[Item], problems: list[str]) -> Iterator[Item]:
    """What an operator gives until it fails: one program that it cannot read must not cost the others."""
    try:
        yield from items
    except Exception as problem:  # noqa: BLE001 - told in `problems`
        text = f"{code} failed ({type(problem).__name__}: {problem})"
        if text not in problems:
            problems.append(text)


def combined(mutations: Sequence[Mutation]) -> FileEdits | None:
    """The edits of several mutations at once; None where they meet, or leave no Python behind."""
    kept: dict[str, list[Span]] = {}
    for each in mutations:
        spans = {file: spans_of(read(file), own) for file, own in by_file(each.edits).items()}
        for file, own in spans.items():
            taken = kept.get(file, [])
            fresh = [one for one in own if not (_is_import(one) and one in taken)]  # both need the same name
            if not own or any(meet(one, other) for one in fresh for other in taken):
                return None
        for file, own in spans.items():
            kept.setdefault(file, []).extend(own)
    edits = tuple(dict.fromkeys(edit for each in mutations for edit in each.edits))
    return edits if applied({}, edits) is not None else None


def texts_of(edits: FileEdits, root: str) -> dict[str, str] | None:
    """Texts of the files that edits change, by their names relative to a folder; None where they cannot be made."""
    texts = applied({}, edits)
    if texts is None:
        return None
    base = os.path.realpath(root)
    relative = {os.path.relpath(os.path.realpath(file), base): text for file, text in texts.items()}
    return None if any(name.startswith("..") for name in relative) else relative


def changed_lines(edits: FileEdits, among: Iterable[FileEdits] = ()) -> dict[str, list[int]]:
    """The lines of the mutated text that edits have changed, by file; `among`: other edits made at the same time."""
    found: dict[str, list[int]] = {}
    others = tuple(edit for each in among for edit in each)
    for file, own in by_file(edits).items():
        text = read(file)
        every_span = spans_of(text, [*own, *by_file(others).get(file, [])])
        mine = set(spans_of(text, own))
        shift = 0
        lines: set[int] = set()
        whole = _carried(text, every_span)
        for span in sorted(every_span, key=lambda each: each.start):
            start = span.start + shift
            shift += len(span.text) - (span.end - span.start)
            if span in mine and not _is_import(span):
                lines.update(_touched(whole, start, span.text))
        found[file] = sorted(lines)
    return found


def _carried(text: str, spans: Sequence[Span]) -> str:
    for span in sorted(spans, key=lambda each: -each.start):
        text = text[: span.start] + span.text + text[span.end :]
    return text


def _is_import(span: Span) -> bool:
    """A line that only makes a name known is not where the fault is."""
    return span.text.strip().startswith(("import ", "from "))


def _touched(text: str, start: int, written: str) -> range:
    """Lines that a piece of text covers; where something was taken away, the line that came into its place."""
    core = written.strip("\n")
    first = text.count("\n", 0, start + len(written) - len(written.lstrip("\n"))) + 1
    return range(first, first + core.count("\n") + 1)


def relative_lines(lines: Mapping[str, list[int]], root: str) -> list[tuple[str, int]]:
    """The same as (file, line), files relative to a folder."""
    base = os.path.realpath(root)
    return [
        (os.path.relpath(os.path.realpath(file), base), line)
        for file, numbers in sorted(lines.items())
        for line in numbers
    ]
