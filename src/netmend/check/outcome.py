"""Outcome: what checking a set of files showed, ready to be told. Light to import: a run from the cache needs no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from netmend.shown import Shown
from netmend.vocabulary.finding import Finding

if TYPE_CHECKING:
    from netmend.check.rule import StaticRule


@dataclass(frozen=True)
class Outcome(Shown):
    """Findings, in order of file and line, and what could not be checked. Iterates over its findings."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()  # file, why it could not be checked
    failures: tuple[tuple[str, str], ...] = ()  # file, which rule of ours failed on it
    files: int = 0  # looked at, those with a problem included
    seconds: float = 0.0
    fixed: tuple[Finding, ...] = ()  # mended in the files; no longer among the findings
    hidden: int = 0  # known to the baseline
    stale: int = 0  # entries of the baseline that no longer occur
    cached: int = 0  # of the files: not looked into again
    checked: int = 0  # of the files: could be looked into, at least in part
    names: tuple[str, ...] = field(default=(), repr=False)  # of the files
    # of what is not on disk
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def source(self, file: str, cell: int | None = None) -> str:
        """The text of a file as it is now, or of one cell of a notebook; empty when it cannot be read."""
        from netmend.check.reading import decode, read_bytes

        if file in self.texts:
            text = self.texts[file]
        else:
            data = read_bytes(Path(file))
            decoded = data if isinstance(data, str) else decode(data.content, notebook=cell is not None)
            text = "" if isinstance(decoded, str) else decoded.text
        if cell is None:
            return text
        from netmend.check.notebook import cell_source

        return cell_source(text, cell)

    @property
    def rules(self) -> Mapping[str, type[StaticRule]]:
        """Every rule by its code. Imports them all."""
        from netmend.check.rule import RULES

        return RULES.classes()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)
