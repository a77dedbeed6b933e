"""Change: what to alter in a program so that it learns; one candidate of a repair."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.vocabulary.finding import Edit

# How dear it is to find out whether a change helps, and how sure it is (the order in which changes are tried).
FREE, BY_FACTS, SHORT_SEARCH, BUDGET, ARCHITECTURE = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class FileEdit:
    """An edit of one file; the name is absolute."""

    file: str
    edit: Edit


FileEdits = tuple[FileEdit, ...]


@dataclass(frozen=True)
class Change:
    """One way to mend one cause.

    `edits` are the patch, as a person would write it: where the value is set. `forced` are the intervention: the same at the
    place where the value is used, which works wherever it comes from; empty when both are the same. `arguments` are the
    program's new arguments, when the value was given on the command line.
    """

    repair: str  # code of the unit that proposed it, "R401"
    cause: str  # leaf of the taxonomy that it mends
    title: str  # "learning rate 10 → 0.01"
    edits: FileEdits = ()
    forced: FileEdits = ()
    arguments: tuple[str, ...] | None = None
    knob: str = ""  # what it turns, "optimizer.lr"; two changes of one knob exclude each other
    effort: int = FREE
    cost: float = 1.0  # expected length of a training with it, relative to one without

    @property
    def is_empty(self) -> bool:
        return not self.edits and self.arguments is None


@dataclass(frozen=True)
class Patch:
    """The concrete change that goes with a told fault: what to write, as edits and as a diff."""

    title: str  # "learning rate 10 → 0.01"
    edits: FileEdits = ()
    diff: str = ""  # unified; empty when only the arguments change
    arguments: tuple[str, ...] | None = None  # the program's new arguments, when the value was given there
