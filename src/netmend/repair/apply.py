"""Changes carried out on texts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from netmend.program.text.spans import carried_out, spans_of
from netmend.vocabulary.change import FileEdit
from netmend.vocabulary.finding import Edit

_TRIES = 100


def by_file(edits: Iterable[FileEdit]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edit in edits:
        found.setdefault(edit.file, []).append(edit.edit)
    return found


def applied(texts: Mapping[str, str], edits: Iterable[FileEdit]) -> dict[str, str] | None:
    """The texts of the files that edits change, afterwards; None where they meet or leave no Python behind."""
    result: dict[str, str] = {}
    for file, own in by_file(edits).items():
        text = texts[file] if file in texts else read(file)
        spans = spans_of(text, own)
        if not spans:
            return None
        result[file] = carried_out(text, spans)
        if not is_whole(file, result[file]):
            return None
    return result


def read(file: str) -> str:
    """A file's text with its line ends as they are."""
    return Path(file).read_bytes().decode("utf-8", errors="surrogateescape")


def is_whole(file: str, text: str) -> bool:
    """Whether a text can be what a file holds: Python, where its name says so."""
    if not file.endswith(".py"):
        return True
    for _ in range(_TRIES):
        try:
            # bytes: the file may name its own encoding
            ast.parse(text.encode("utf-8", errors="surrogateescape"))
        except SystemError:
            # Python 3.11 counts the depth of trees once for all threads: another thread parses, too
            continue
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True
    return False
