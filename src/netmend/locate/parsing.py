"""From a file's content to its facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from netmend.locate.decoding import decode
from netmend.locate.facts import Definition, Field, FileFacts
from netmend.locate.outline import Outline, outline_by_patterns, outline_by_syntax
from netmend.locate.words import count_words

_COMMENT = re.compile(r"#[^\n]*")
_PLAIN_WORD = re.compile(r"[^\W\d_]{2,}")
_HOLE = re.compile(r"\{[^{}]*\}|%(?:\([^)]*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?[diouxXeEfFgGcrsa]|\n")
_LONGEST_LITERAL = 2_000  # longer ones are data
_MOST_LITERALS = 400
_SHORTEST_LINE = 12  # characters without blanks; shorter lines ("return x") occur everywhere
_MOST_WORDS = 300  # different words kept of a definition
SHINGLE = 3


def parse(content: bytes) -> FileFacts:
    """Facts of one file. Nothing of it is executed, and no content makes this fail."""
    source = decode(content)
    text = source.text
    outline = None if source.cut else outline_by_syntax(text)
    parsed = outline is not None
    if outline is None:
        outline = outline_by_patterns(text)
    lines = text.split("\n")
    literals = tuple(_pieces(outline.strings))
    fields = {
        Field.CLASSES: count_words(outline.classes),
        Field.FUNCTIONS: count_words(outline.functions),
        Field.VARIABLES: count_words(outline.variables),
        Field.COMMENTS: count_words([*outline.docstrings, *_COMMENT.findall(text)]),
        Field.STRINGS: count_words(outline.strings),
        Field.CALLS: count_words(outline.calls),
        Field.IMPORTED: count_words(outline.imports),
        Field.BODY: count_words([text]),
        Field.NAMES: Counter([*outline.functions, *outline.constants]),
        Field.CLASS_NAMES: Counter(outline.classes),
        Field.SHINGLES: Counter(shingle for piece in literals for shingle in shingles(piece)),
        Field.LINES: Counter(filter(None, map(squeeze, lines))),
    }
    return FileFacts(
        fields=fields,
        definitions=tuple(_with_words(outline, lines)),
        imports=tuple(dict.fromkeys(outline.imports)),
        literals=literals,
        lines=len(lines),
        parsed=parsed,
        cut=source.cut,
    )


def squeeze(line: str) -> str:
    """A line of code without blanks and trailing comment marks, or "" where it is too short to tell anything."""
    squeezed = "".join(line.split())
    if len(squeezed) < _SHORTEST_LINE or squeezed[0] == "#" or squeezed.startswith(("import", "from")):
        return ""
    return squeezed[:200]


def shingles(text: str) -> list[str]:
    """All runs of three words; two words make one run of their own."""
    found = [word.lower() for word in _PLAIN_WORD.findall(text)]
    if len(found) == SHINGLE - 1:
        return [" ".join(found)]
    return [" ".join(found[start : start + SHINGLE]) for start in range(len(found) - SHINGLE + 1)]


def _pieces(strings: Iterable[str]) -> list[str]:
    """What is left of string literals between the places where values are put in."""
    kept: list[str] = []
    for string in strings:
        if len(string) > _LONGEST_LITERAL or " " not in string:
            continue
        for piece in _HOLE.split(string):
            piece = piece.strip()
            if len(piece) >= 8 and " " in piece:
                kept.append(piece)
        if len(kept) >= _MOST_LITERALS:
            break
    return kept[:_MOST_LITERALS]


def _with_words(outline: Outline, lines: list[str]) -> Iterable[Definition]:
    within = 0  # last line of the outer function
    for name, kind, line, end, head in sorted(outline.definitions, key=lambda d: (d[2], -d[3])):
        if end <= within:
            yield Definition(name, kind, line, end)
            continue
        within = max(within, end) if kind != "class" else within
        last = head if kind == "class" else end
        counts = count_words(lines[line - 1 : last])
        kept = dict(counts.most_common(_MOST_WORDS)) if len(counts) > _MOST_WORDS else dict(counts)
        yield Definition(name, kind, line, end, kept)
