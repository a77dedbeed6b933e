"""Site: a place in the user's source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Site:
    """The user's line that created or called something; columns count from 0 and are None before Python 3.11."""

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def short(self) -> str:
        """File name and line, for narrow columns."""
        return f"{PurePath(self.file).name}:{self.line}"
