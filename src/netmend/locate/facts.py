"""What is known about one file's content: words by field, definitions, imports. Independent of the file's path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


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
    imports: tuple[
        str, ...
    ] = ()  # dotted; relative ones keep their leading dots; "a.b:C" for `from a.b import C`
    literals: tuple[str, ...] = ()  # long string pieces, split at format holes
    lines: int = 0
    parsed: bool = True  # False: read by patterns only (Python 2, broken or cut files)
    cut: bool = False  # True: only the beginning was read


EMPTY = FileFacts(fields={})
