"""Example: a small program and what a unit makes of it; written as the program with the change marked in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netmend.testing.marks import one_side, read_marked
from netmend.testing.programs import program, script


@dataclass(frozen=True)
class Example:
    """A small training program and what the unit makes of it; a test and a part of the unit's page."""

    title: str
    before: str  # a whole program of a few steps; `torch`, `nn` and `F` have to be imported by it
    old: str = ""  # a part of `before` that occurs once, …
    new: str | None = None  # … and what takes its place; None: nothing is proposed
    mark: str = ""  # a part of the line that the fault is said to stand on
    cause: str = ""  # default: the first that the repair cures
    component: str = ""
    nth: int = 0  # which of the proposals is meant
    raises: bool = False  # the program ends with an exception, as the fault makes it
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # further files beside it
    edited: str = ""  # the file that is compared, when it is not the program itself
    line: int = 0  # of the fault, where `mark` does not say it
    after: str = ""  # the whole program afterwards, where `old` and `new` do not say it

    @property
    def changes(self) -> bool:
        """Whether something is proposed."""
        return self.new is not None or bool(self.after)

    @property
    def whole(self) -> str:
        """The text that is compared, as it was …"""
        return self.files[self.edited] if self.edited else self.before.lstrip("\n")

    @property
    def expected(self) -> str:
        """… and as it should become."""
        return self.after or self.whole.replace(self.old, self.new or "")

    @property
    def fault_line(self) -> int:
        """The line that the fault is said to stand on; 0: there is no fault."""
        if self.line or not self.mark:
            return self.line
        lines = [number for number, line in enumerate(self.whole.splitlines(), 1) if self.mark in line]
        assert len(lines) == 1, f"{self.mark!r} is on {len(lines)} lines"
        return lines[0]


def titled(examples: Mapping[str, Example]) -> tuple[Example, ...]:
    """Examples as they are written, `{"a constant": example(...)}`, as they are used."""
    return tuple(replace(each, title=title) for title, each in examples.items())


def example(text: str = "", *, fault: bool = True, mark: str = "", **parts: Any) -> Example:
    """A program, given whole or by its parts (see `programs.program`), in which the change is marked.

    `⟨old → new⟩` stands in a line, `+ line` and `- line` for whole lines. The fault is on the first line that changes unless `mark` tells
    another, or `⟨…⟩` without an arrow; a program without any change stays as it is.
    """
    told = {name: parts.pop(name) for name in Example.__dataclass_fields__ if name in parts}
    marked = script(text, **parts) if text else program(**parts)
    before, after, line = read_marked(marked)
    line = line if fault and not mark else 0
    return Example("", before, mark=mark, line=line, after=after if after != before else "", **told)


def changed(program: str, *parts: str, nth: int = 0) -> Example:
    """A whole program, and the parts of it that change, each of which occurs once: `lr=⟨0.1 → 1.0⟩`."""
    before = after = program.lstrip("\n")
    for part in parts:
        old, new = one_side(part, 0), one_side(part, -1)
        assert before.count(old) == 1, f"{old!r} is there {before.count(old)} times"
        after = after.replace(old, new)
    return Example("", before, nth=nth, after=after if parts else "")
