"""Comments that silence findings: `# netmend: ignore[S201]` on a line, `# netmend: ignore-file[S2]` for a file.

A comment at the end of a line counts for the whole statement that it stands in (up to the colon, for one with a body);
a comment on a line of its own for the statement below. Without brackets it counts for every rule. What stands in the
brackets is chosen as with --select, with commas between. A comment that silences nothing is itself found, unless a rule
that it names is switched off at the moment: then nobody can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from netmend.check.select import UNKNOWN, UNUSED, Known, did_you_mean
from netmend.vocabulary.finding import SAFE, Edit, Finding, Fix

PAGES: dict[str, tuple[str, str]] = {
    UNUSED: (
        "A comment silences a finding that is not there.",
        "The mistake was mended, or the comment stands on the wrong line. Left in place it would hide the next mistake "
        "of this kind. Remove it, or put it on the line of the finding. --fix removes it.",
    ),
    UNKNOWN: (
        "A comment silences a rule that does not exist.",
        "The code in the brackets is misspelled, so the comment does nothing. Correct it; `netmend explain` lists all "
        "codes.",
    ),
}


@dataclass(frozen=True)
class Item:
    """One choice in the brackets: the codes that it silences."""

    text: str  # "" for a comment without brackets: everything
    codes: tuple[str, ...] = ()
    active: bool = True  # what it names is switched on, so that it can be called unused
    known: bool = True


@dataclass(frozen=True)
class Suppression:
    """One comment: where it stands, the lines that it counts for, and what it silences there."""

    line: int
    column: int
    end_column: int
    first: int
    last: int
    whole_file: bool
    items: tuple[Item, ...]
    removal: Edit
    inside: tuple[int, int]  # columns of what stands between the brackets
    note: str = ""  # a mistake in the comment itself
    cell: int | None = None

    def silences(self, finding: Finding) -> tuple[Item, ...]:
        here = self.cell == finding.cell and self.first <= finding.line <= self.last
        if not (here or self.whole_file) or finding.code == UNKNOWN:
            return ()
        return tuple(item for item in self.items if not item.text or finding.code in item.codes)


def settle(
    findings: Iterable[Finding],
    comments: Mapping[str, Sequence[Suppression]],
    checked: Collection[str],
    report_unused: bool,
) -> list[Finding]:
    """The findings that no comment silences; with those about unused comments, in files that were checked themselves."""
    kept: list[Finding] = []
    used: set[tuple[str, int, str]] = set()
    for finding in findings:
        silencing = [
            (finding.file, index, item.text)
            for index, comment in enumerate(comments.get(finding.file, ()))
            for item in comment.silences(finding)
        ]
        used.update(silencing)
        if not silencing:
            kept.append(finding)
    if report_unused:
        for file in comments.keys() & checked:
            kept.extend(_unused(file, comments[file], used))
    return kept


def _unused(
    file: str, comments: Sequence[Suppression], used: Collection[tuple[str, int, str]]
) -> Iterator[Finding]:
    if any(UNUSED in item.codes for comment in comments if comment.whole_file for item in comment.items):
        return
    for index, comment in enumerate(comments):
        unused = [item for item in comment.items if item.active and (file, index, item.text) not in used]
        if not unused:
            continue
        names = ", ".join(item.text for item in unused)
        where = "in this file" if comment.whole_file else "on this line"
        yield _finding(
            UNUSED,
            f"{names or 'Nothing'} is found {where}: the comment silences nothing. Remove it."
            if not names
            else f"There is no {names} {where}: nothing is silenced. Remove it from the comment.",
            file,
            comment,
            Fix("Remove what silences nothing", (_without(comment, unused),), SAFE),
        )


def _without(comment: Suppression, unused: Sequence[Item]) -> Edit:
    left = [item.text for item in comment.items if item not in unused]
    if not left:
        return comment.removal
    start, end = comment.inside
    return Edit(comment.line, start, comment.line, end, ", ".join(left))


def complaints(file: str, comments: Sequence[Suppression], known: Known) -> Iterator[Finding]:
    """What is wrong with the comments themselves."""
    for comment in comments:
        if comment.note:
            yield _finding(UNKNOWN, comment.note, file, comment)
        for item in comment.items:
            if not item.known:
                hint = did_you_mean(item.text, known.names)
                yield _finding(UNKNOWN, f"There is no rule {item.text!r} to silence{hint}", file, comment)


def _finding(code: str, message: str, file: str, comment: Suppression, fix: Fix | None = None) -> Finding:
    line, cell = comment.line, comment.cell
    return Finding(code, "", message, file, line, comment.column, line, comment.end_column, fix, (), cell)
