"""From bytes to text as Python reads it; what cannot be read is said in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netmend.check import reading
from netmend.check.reading import Bytes, Source, decode, read_bytes, syntax_problem


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("x = 'é'\n".encode(), "x = 'é'\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso-8859-1"),
        (b"\n# vim: set fileencoding=cp1252 :\n'\x80'", "\n# vim: set fileencoding=cp1252 :\n'€'", "cp1252"),
        (b"a = 1\r\nb = 2\rc = 3\n", "a = 1\r\nb = 2\rc = 3\n", "utf-8"),
        (b"a\n\n# coding: latin-1\n", "a\n\n# coding: latin-1\n", "utf-8"),
    ],
)
def test_text_and_encoding(content: bytes, text: str, encoding: str) -> None:
    source = decode(content)
    assert source == Source(text, encoding)
    assert source.encode(source.text) == content


def test_a_byte_order_mark_is_taken_off_and_put_back() -> None:
    content = b"\xef\xbb\xbfx = 1\n"
    source = decode(content)
    assert isinstance(source, Source) and source.text == "x = 1\n"
    assert source.encode("y = 2\n") == b"\xef\xbb\xbfy = 2\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"x = 1\ny = '\xe9'\n",
            "line 2: byte 0xe9 is not valid utf-8; save the file as UTF-8, or declare its",
        ),
        (b"\xe9 = 1\n", "line 1: byte 0xe9 is not valid utf-8"),
        (b"# coding: klingon\n", "line 1: unknown encoding: klingon"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "line 1: encoding problem: utf-8"),
        (b"x = 1\n\0\n", "line 2: holds a null byte; is it a text file?"),
        ("x = 1".encode("utf-16"), "is UTF-16, which Python does not read; save it as UTF-8"),
        (b"# coding: hex\nff\n", "line 1: "),
    ],
)
def test_a_line_for_what_cannot_be_decoded(content: bytes, message: str) -> None:
    problem = decode(content)
    assert isinstance(problem, str) and problem.startswith(message) and "\n" not in problem


@given(st.binary(max_size=200))
def test_no_bytes_raise(content: bytes) -> None:
    source = decode(content)
    if isinstance(source, Source):
        assert source.encode(source.text) == content


@given(st.text(max_size=100))
def test_no_text_raises_when_parsed(text: str) -> None:
    assert "\n" not in syntax_problem(text)


def test_reading_tells_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    data = read_bytes(file)
    assert data == Bytes(b"x = 1\n", 6, file.stat().st_mtime_ns)


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "round.py").symlink_to("round.py")
    os.mkfifo(tmp_path / "pipe.py")
    assert read_bytes(tmp_path / "folder.py") in ("not a regular file", "cannot be read: Is a directory")
    assert str(read_bytes(tmp_path / "round.py")).startswith(
        "cannot be read: Too many levels of symbolic links"
    )
    assert read_bytes(tmp_path / "pipe.py") == "not a regular file"  # and nobody waits for its other end
    assert read_bytes(tmp_path / "gone.py") == "cannot be read: No such file or directory"
    assert str(read_bytes(Path("a\0b.py"))).startswith("cannot be read: ")
    (tmp_path / "large.py").write_bytes(b"x = 1\n" * 1000)
    monkeypatch.setattr(reading, "SOURCE_LIMIT", 1000)
    assert read_bytes(tmp_path / "large.py") == "6 kB is too large; files up to 1 kB are checked"


def test_fifty_thousand_lines_are_within_the_limit() -> None:
    assert reading.SOURCE_LIMIT > 50_000 * 120
