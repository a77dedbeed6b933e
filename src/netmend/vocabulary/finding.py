"""Finding: a mistake seen in source, with the change that would mend it. Lines count from 1, columns from 0 in characters."""

from __future__ import annotations

from dataclasses import dataclass

SAFE, UNSAFE = "safe", "unsafe"


@dataclass(frozen=True)
class Edit:
    """Replace what stands between two places of one file by a text; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Fix:
    """A change of source. `safe`: meaning kept or provably right; `unsafe`: a person should look."""

    title: str  # "Drop the softmax"
    edits: tuple[Edit, ...]
    applicability: str = UNSAFE


@dataclass(frozen=True)
class Related:
    """Another place that takes part, and what it does there."""

    message: str
    file: str
    line: int
    column: int = 0
    cell: int | None = None


@dataclass(frozen=True)
class Finding:
    """A mistake in source: which rule, the cause it stands for, where, what to do."""

    code: str  # of the rule, "S201"
    cause: str  # leaf of the taxonomy, "LYR-SOFTMAX-EXTRA"
    message: str  # what is wrong and what to write instead, one or two sentences
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    cell: int | None = None  # of a notebook, from 1; lines then count within the cell
