"""Signs on a terminal: how wide they are, which it must not be given, and how narrow encodings spell them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_GAP = re.compile(r"\s+(?!%)")  # a number is not parted from its %

# For streams that cannot hold the signs our texts use.
IN_ASCII = str.maketrans(
    {
        "→": "->",
        "←": "<-",
        "…": "...",
        "–": "-",
        "×": "x",
        "·": "|",
        "²": "2",
        "’": "'",
        "“": '"',
        "”": '"',
        "±": "+-",
        "Δ": "d",
        "‖": "|",
        "│": "|",
        "─": "-",
        "▸": ">",
    }
)

# Control signs, and those that turn the direction of writing: source could use them to disguise itself.
_HARMFUL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_TAB = 4  # columns between the stops of a tab


def spelled(text: str, encoding: str) -> str:
    """The text as far as an encoding can hold it."""
    if encoding.lower().replace("-", "").startswith("utf"):
        return text
    return text.translate(IN_ASCII).encode(encoding, "replace").decode(encoding)


def harmless(text: str) -> str:
    """The text with nothing in it that moves the cursor or changes colours."""
    return _HARMFUL.sub("\ufffd", text)


def cells(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else sum(_width(sign) for sign in text)


def _width(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def on_screen(line: str) -> tuple[str, list[int]]:
    """A line of source without tabs and harmful signs, and the column at which each of its characters begins (and the end)."""
    parts: list[str] = []
    columns: list[int] = []
    column = 0
    for sign in line:
        columns.append(column)
        shown = " " * (_TAB - column % _TAB) if sign == "\t" else harmless(sign)
        parts.append(shown)
        column += len(shown) if sign == "\t" else cells(shown)
    return "".join(parts), [*columns, column]


def cropped(text: str, first: int, last: int) -> tuple[str, int]:
    """The part of a text between two columns, with marks where something was cut, and the column at which it begins."""
    kept: list[str] = []
    column = start = 0
    for sign in text:
        width = cells(sign)
        if first <= column and column + width <= last:
            if not kept:
                start = column
            kept.append(sign)
        column += width
    if not kept:
        return "", first
    if start > 0:
        kept[0] = "…" + " " * (cells(kept[0]) - 1)
    if column > last:
        kept[-1] = "…"
    return "".join(kept), start


def wrapped(text: str, first: int, width: int) -> Iterator[str]:
    """The words of a text in lines of a width; the first line has only `first` columns left."""
    line, room = "", first
    for word in _GAP.split(text.strip()):
        if line and cells(line) + 1 + cells(word) > room:
            yield line
            line, room = word, width
        else:
            line = f"{line} {word}" if line else word
    yield line
