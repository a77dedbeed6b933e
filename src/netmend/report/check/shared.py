"""What all forms of findings need: source texts read once, names of places, lasting fingerprints.

Imports stand inside functions where text output, which must start quickly, does not need them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from netmend.program.text.positions import Lines
from netmend.vocabulary.finding import Finding, Related

if TYPE_CHECKING:
    from netmend.check.outcome import Outcome

ERROR, WARNING, NOTE = "error", "warning", "note"


class Sources:
    """The texts of files and cells, each asked for once."""

    def __init__(self, read: Callable[[str, int | None], str]) -> None:
        self._read = read
        self._lines: dict[tuple[str, int | None], Lines] = {}

    def lines(self, file: str, cell: int | None) -> Lines:
        key = file, cell
        if key not in self._lines:
            self._lines[key] = Lines(self._read(file, cell).removeprefix("\ufeff"))
        return self._lines[key]

    def text(self, file: str, cell: int | None) -> str:
        return self.lines(file, cell).text


def level(outcome: Outcome, finding: Finding) -> str:
    """How grave: a mistake; a remark on comments of ours; advice."""
    rule = outcome.rules.get(finding.code)
    if rule is None:
        return WARNING
    return NOTE if rule.advisory else ERROR


def page_of(outcome: Outcome, code: str) -> tuple[str, str]:
    """First line and the rest of what explains a code."""
    rule = outcome.rules.get(code)
    if rule is not None:
        from netmend.unit import page

        return page(rule)
    from netmend.check.suppress import PAGES

    return PAGES.get(code, (code, ""))


def fingerprints(findings: Iterable[Finding], read: Callable[[str, int | None], str]) -> list[str]:
    """For each finding a name that stays when lines move; the same mistake in the same line again is numbered."""
    import hashlib

    from netmend.check.baseline import identity

    sources = Sources(read)
    seen: Counter[tuple[str, ...]] = Counter()
    names = []
    for finding in findings:
        known = identity(finding, sources.text)
        seen[known] += 1
        whole = "\0".join((*known, str(seen[known])))
        names.append(hashlib.sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:32])
    return names


def cell_of(place: Finding | Related) -> str:
    """`cell 3:` before a line of a notebook."""
    cell: int | None = getattr(place, "cell", None)
    return "" if cell is None else f"cell {cell}:"


def told(finding: Finding) -> str:
    """The message for forms that know no cells."""
    message = " ".join(finding.message.split())
    if finding.cell is None:
        return message
    return f"Cell {finding.cell}, line {finding.line}: {message}"


def many(count: int, thing: str) -> str:
    """`1 file`, `2 files`, `3 entries`."""
    if count == 1:
        return f"1 {thing}"
    return f"{count} {thing[:-1]}ies" if thing.endswith("y") else f"{count} {thing}s"
