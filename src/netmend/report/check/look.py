"""How findings look as text: the width, and colours only where a person sees them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import IO

from netmend.report.signs import spelled

LEAST_WIDTH = 30  # convention: narrower than that nothing reads well, so lines may then run over
_STYLES = {
    "plain": "",
    "path": "1",
    "place": "36",
    "code": "1;31",
    "advice": "1;33",
    "fix": "1;36",
    "mark": "1;31",
    "quiet": "2",
    "good": "1;32",
    "label": "1",
}


@dataclass(frozen=True)
class Look:
    """Of text output. Without a width nothing is wrapped: logs and editors expect a finding's head on one line."""

    width: int | None = None
    color: bool = False
    excerpts: bool = True

    def paint(self, text: str, style: str) -> str:
        codes = _STYLES[style]
        return f"\x1b[{codes}m{text}\x1b[0m" if self.color and codes and text else text


def look_of(stream: IO[str]) -> Look:
    """What suits a stream. NO_COLOR, FORCE_COLOR, COLUMNS and a dumb terminal are honoured."""
    isatty = getattr(stream, "isatty", None)
    on_terminal = bool(isatty and isatty())
    color = on_terminal and os.environ.get("TERM") != "dumb"
    if os.environ.get("FORCE_COLOR"):
        color = True
    if os.environ.get("NO_COLOR"):
        color = False
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        width: int | None = int(given)
    else:
        width = shutil.get_terminal_size().columns if on_terminal else None
    return Look(None if width is None else max(LEAST_WIDTH, width), color)


def write_to(stream: IO[str], text: str) -> None:
    """Write a text; signs that the stream's encoding lacks are spelled in ASCII."""
    stream.write(spelled(text, getattr(stream, "encoding", None) or "utf-8"))
    stream.flush()
