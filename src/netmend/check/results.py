"""What checking one file gave, before comments are weighed across files; and the same as plain lists for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    return [
        [_finding(finding) for finding in result.findings],
        [_comment(comment) for comment in result.comments],
        result.problem,
        result.reads,
        result.failures,
        result.size,
        result.modified,
        result.digest,
        result.partly,
        result.lasting,
    ]


def from_plain(data: Sequence[Any]) -> FileResult:
    """May raise TypeError, ValueError or IndexError for anything that `to_plain` has not written."""
    findings, comments, problem, reads, failures, size, modified, digest, partly, lasting = data
    return FileResult(
        tuple(_finding_back(item) for item in findings),
        tuple(_comment_back(item) for item in comments),
        str(problem),
        tuple(reads),
        tuple(failures),
        int(size),
        int(modified),
        str(digest),
        bool(partly),
        bool(lasting),
    )


def _edit(edit: Edit) -> list[Any]:
    return [edit.line, edit.column, edit.end_line, edit.end_column, edit.text]


def _finding(finding: Finding) -> list[Any]:
    fix = finding.fix
    return [
        finding.code,
        finding.cause,
        finding.message,
        finding.file,
        finding.line,
        finding.column,
        finding.end_line,
        finding.end_column,
        None if fix is None else [fix.title, [_edit(edit) for edit in fix.edits], fix.applicability],
        [list(vars(related).values()) for related in finding.related],
        finding.cell,
    ]


def _finding_back(data: Sequence[Any]) -> Finding:
    code, cause, message, file, line, column, end_line, end_column, fix, related, cell = data
    return Finding(
        code,
        cause,
        message,
        file,
        line,
        column,
        end_line,
        end_column,
        None if fix is None else Fix(fix[0], tuple(Edit(*edit) for edit in fix[1]), fix[2]),
        tuple(Related(*item) for item in related),
        cell,
    )


def _comment(comment: Suppression) -> list[Any]:
    return [
        comment.line,
        comment.column,
        comment.end_column,
        comment.first,
        comment.last,
        comment.whole_file,
        [[item.text, item.codes, item.active, item.known] for item in comment.items],
        _edit(comment.removal),
        comment.inside,
        comment.note,
        comment.cell,
    ]


def _comment_back(data: Sequence[Any]) -> Suppression:
    line, column, end_column, first, last, whole_file, items, removal, inside, note, cell = data
    return Suppression(
        line,
        column,
        end_column,
        first,
        last,
        whole_file,
        tuple(Item(text, tuple(codes), active, known) for text, codes, active, known in items),
        Edit(*removal),
        (inside[0], inside[1]),
        note,
        cell,
    )
