"""What a source file defines, imports and says, as plain facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from netmend.locate.language import decode
from netmend.locate.outline import Outline, outline_by_patterns, outline_by_syntax
from netmend.locate.words import count_words

# What is known about one file's content: words by field, definitions, imports. Independent of the file's path.


class Field(str, Enum):
    """Where in a file a term stands. PATH, BASENAME and SUBJECTS come from the repository, the others from content."""

    PATH = "path"
    BASENAME = "basename"
    SUBJECTS = "subjects"  # subjects of commits that touched the file
    CLASSES = "classes"
    FUNCTIONS = "functions"
    VARIABLES = "variables"  # parameters, assigned names, attributes
    COMMENTS = "comments"  # with docstrings
    STRINGS = "strings"
    CALLS = "calls"
    IMPORTED = "imported"  # modules and names that it imports
    BODY = "body"  # every word
    # The following hold exact things instead of words.
    NAMES = "names"  # defined functions, methods and constants as written
    CLASS_NAMES = "class_names"
    SHINGLES = "shingles"  # three words in a row of a string literal: pieces of messages
    LINES = "lines"  # lines of code without their blanks


CONTENT_FIELDS = tuple(f for f in Field if f not in (Field.PATH, Field.BASENAME, Field.SUBJECTS))
WORD_FIELDS = (
    Field.PATH,
    Field.CLASSES,
    Field.FUNCTIONS,
    Field.VARIABLES,
    Field.COMMENTS,
    Field.STRINGS,
    Field.CALLS,
    Field.BODY,
)


@dataclass(frozen=True)
class Definition:
    """A class, function or method.

    `words` are the (stemmed) words of its lines, for a class those of its head. They are there only just after parsing,
    and not for functions inside functions, whose words are among those of the outer one.
    """

    name: str  # qualified inside the file: Class.method
    kind: str  # class | function | method
    line: int
    end: int
    words: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FileFacts:
    fields: Mapping[Field, Mapping[str, int]]  # how often each term stands in each content field
    definitions: tuple[Definition, ...] = ()
    # dotted; relative ones keep their leading dots; "a.b:C" for `from a.b import C`
    imports: tuple[str, ...] = ()
    lines: int = 0
    parsed: bool = True  # False: read by patterns only (Python 2, broken or cut files)
    cut: bool = False  # True: only the beginning was read


EMPTY = FileFacts(fields={})


# From a file's content to its facts.

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
        Field.SHINGLES: Counter(shingle for piece in _pieces(outline.strings) for shingle in shingles(piece)),
        Field.LINES: Counter(filter(None, map(squeeze, lines))),
    }
    return FileFacts(
        fields=fields,
        definitions=tuple(_with_words(outline, lines)),
        imports=tuple(dict.fromkeys(outline.imports)),
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
