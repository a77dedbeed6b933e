"""What checking one file gave, before comments are weighed across files; and the same as plain lists for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

from netmend.check.suppress import Item, Suppression
from netmend.vocabulary.finding import Edit, Finding, Fix, Related


@dataclass(frozen=True)
class FileResult:
    """Findings may lie in other files of the project that were followed. Paths are absolute."""

    findings: tuple[Finding, ...] = ()
    comments: tuple[Suppression, ...] = ()
    problem: str = ""
    reads: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    size: int = -1  # of the file when it was read
    modified: int = -1
    digest: str = ""
    partly: bool = False  # the problem is in some cells of a notebook; the others were checked
    lasting: bool = True  # the same content would give the same result again


def to_plain(result: FileResult) -> list[Any]:
    """Fields in their order, records and tuples as lists."""
    plain: list[Any] = _plain(result)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return [_plain(field) for field in vars(value).values()]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def from_plain(data: Sequence[Any]) -> FileResult:
    """May raise TypeError, ValueError or IndexError for anything that `to_plain` has not written."""
    findings, comments, problem, reads, failures, size, modified, digest, partly, lasting = data
    return FileResult(
        tuple(_finding(*item) for item in findings),
        tuple(_comment(*item) for item in comments),
        str(problem),
        tuple(reads),
        tuple(failures),
        int(size),
        int(modified),
        str(digest),
        bool(partly),
        bool(lasting),
    )


def _finding(*fields: Any) -> Finding:
    fix, related, cell = fields[8:]
    if fix is not None:
        fix = Fix(fix[0], tuple(Edit(*edit) for edit in fix[1]), fix[2])
    others = tuple(Related(*place) for place in related)
    return Finding(*(*fields[:8], fix, others, cell))


def _comment(*fields: Any) -> Suppression:
    items, removal, inside, note, cell = fields[6:]
    chosen = tuple(Item(text, tuple(codes), active, known) for text, codes, active, known in items)
    return Suppression(*(*fields[:6], chosen, Edit(*removal), (inside[0], inside[1]), note, cell))
