"""From bytes to source text, as Python itself reads it: declared encodings, byte order marks, line endings kept.

Whatever is wrong with a file is said in one line, never raised: a folder of a thousand files is checked although one
of them is broken.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path

# A syntax tree takes about a hundred times the bytes of its source: this limit keeps it below a gigabyte, and 50,000
# lines of ordinary length stay below the limit.
SOURCE_LIMIT = 8 * 2**20
NOTEBOOK_LIMIT = 128 * 2**20  # pictures in the outputs count here, and are dropped at once


@dataclass(frozen=True)
class Bytes:
    """A file's content, and the size and time it had when it was opened."""

    content: bytes
    size: int
    modified: int  # nanoseconds


@dataclass(frozen=True)
class Source:
    """A decoded file; `encode` gives bytes back in the same encoding."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""  # byte order mark

    def encode(self, text: str) -> bytes:
        """May raise UnicodeEncodeError where the declared encoding lacks a sign of the new text."""
        return self.mark + text.encode(self.encoding)


def is_notebook(file: str) -> bool:
    return file.endswith(".ipynb")


def holds_notebook(content: bytes) -> bool:
    """Whether a text without a telling name is a notebook: JSON with a format version."""
    return content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{") and b'"nbformat"' in content


def read_bytes(path: Path) -> Bytes | str:
    """The content, or why it cannot be read."""
    limit = NOTEBOOK_LIMIT if is_notebook(path.name) else SOURCE_LIMIT
    try:
        # Opening a pipe would wait for its writer; O_NONBLOCK does not, and changes nothing for a plain file.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return "not a regular file"
            if status.st_size > limit:
                return (
                    f"{size_words(status.st_size)} is too large; files up to {size_words(limit)} are checked"
                )
            return Bytes(stream.read(), status.st_size, status.st_mtime_ns)
    except OSError as problem:
        return f"cannot be read: {problem.strerror or problem}"
    except ValueError as problem:  # a null byte in the name
        return f"cannot be read: {problem}"


def decode(content: bytes, notebook: bool = False) -> Source | str:
    """The text, or why there is none. Notebooks are JSON, which is always UTF-8."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "is UTF-16, which Python does not read; save it as UTF-8"
    body = content[len(mark) :]
    if b"\0" in body:
        line = body[: body.index(b"\0")].count(b"\n") + 1
        return f"line {line}: holds a null byte; is it a text file?"
    try:
        encoding = "utf-8" if notebook else declared_encoding(content)
    except SyntaxError as problem:
        return f"line 1: {problem.msg or problem}"
    try:
        return Source(body.decode(encoding), encoding, mark)
    except UnicodeDecodeError as problem:
        line = body[: problem.start].count(b"\n") + 1
        return (
            f"line {line}: byte {body[problem.start]:#04x} is not valid {encoding}; "
            "save the file as UTF-8, or declare its encoding in the first line"
        )
    except (LookupError, ValueError, RecursionError) as problem:  # a codec that does not give text
        return f"line 1: the encoding {encoding} cannot be used: {problem}"


def declared_encoding(content: bytes) -> str:
    """PEP 263, with the byte order mark taken off. SyntaxError when the declaration is unknown or contradicts the mark."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(_head(content)).readline)
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _head(content: bytes) -> bytes:
    # Only two lines can declare an encoding. A wrong byte in them is told with its line by decoding the whole; the
    # detection would only say that the declaration is missing.
    head = b"\n".join(content.split(b"\n", 2)[:2]) + b"\n"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        return head if b"coding" in head else head[: problem.start] + b"\n"
    return head


def syntax_problem(text: str) -> str:
    """Why a text is not Python; empty when it is."""
    import ast

    try:
        ast.parse(text)
    except SyntaxError as problem:
        return f"line {problem.lineno or 1}: {problem.msg}"
    except (ValueError, RecursionError, MemoryError) as problem:
        return f"line 1: {problem or type(problem).__name__}"
    return ""


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def size_words(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 2**10:.0f} kB"
