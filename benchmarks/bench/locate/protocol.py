"""What is searched and what counts as found: which commit, which files are candidates, which are fixed."""

from __future__ import annotations

from dataclasses import dataclass

from bench.locate.denchmark import Report
from netmend.errors import UsageError

SRC, ALL = "src", "all"
OPEN, FIX_PARENT = "open", "fix-parent"


@dataclass(frozen=True)
class Protocol:
    """`src`: tests are neither candidates nor fixed files; `all`: they are both. The commit: as opened, or the fix's parent."""

    files: str = SRC
    at: str = OPEN

    def __post_init__(self) -> None:
        if self.files not in (SRC, ALL):
            raise UsageError(f"--protocol must be {SRC} or {ALL}, got {self.files!r}")
        if self.at not in (OPEN, FIX_PARENT):
            raise UsageError(f"--at must be {OPEN} or {FIX_PARENT}, got {self.at!r}")

    @property
    def tests(self) -> bool:
        return self.files == ALL

    @property
    def name(self) -> str:
        return f"{self.files}-{self.at}"

    def commit(self, report: Report) -> str:
        return report.snapshot if self.at == OPEN else report.fix_parent

    def fixed(self, report: Report) -> frozenset[str]:
        """The files to be found. Those that are no candidates yet count as not found."""
        return report.modified_and_tests if self.tests else report.modified
