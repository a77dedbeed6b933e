"""Places in a text: lines from 1 and columns from 0 in characters on one side, offsets into the text on the other."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from netmend.vocabulary.finding import Edit

# What ends a line for Python's parser; `str.splitlines` knows more signs and would count differently.
_LINE_END = re.compile(r"\r\n|\r|\n")
_REMEMBERED = 8  # texts whose lines are kept at hand


class Lines:
    """Where the lines of a text start and what they hold."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._ends = []
        for end in _LINE_END.finditer(text):
            self._starts.append(end.end())
            self._ends.append(end.start())
        self._ends.append(len(text))

    def __len__(self) -> int:
        """How many lines; the empty one after a final line end counts."""
        return len(self._starts)

    def content(self, line: int) -> str:
        """A line without its end; empty where there is no such line."""
        return self.text[self._starts[line - 1] : self._ends[line - 1]] if 0 < line <= len(self) else ""

    def start(self, line: int) -> int:
        """Offset of the first character of a line; the end of the text for lines after the last."""
        return self._starts[line - 1] if line <= len(self) else len(self.text)

    def end(self, line: int) -> int:
        """Offset just before the line's end sign."""
        return self._ends[line - 1] if line <= len(self) else len(self.text)

    def offset(self, line: int, column: int) -> int | None:
        """Offset of a place; None where the text has no such place."""
        if not 0 < line <= len(self):
            return None
        offset = self._starts[line - 1] + column
        return offset if column >= 0 and offset <= self._ends[line - 1] else None

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def edit(self, start: int, end: int, text: str) -> Edit:
        """Replace what stands between two offsets."""
        return Edit(*self.place(start), *self.place(end), text)

    def line_end(self, line: int) -> str:
        """How the text ends its lines near this one: `\\r\\n`, `\\r` or `\\n`."""
        for near in (line, line - 1):
            if 0 < near < len(self):
                return self.text[self._ends[near - 1] : self._starts[near]]
        return "\n"


@lru_cache(maxsize=_REMEMBERED)
def lines_of(text: str) -> Lines:
    return Lines(text)
