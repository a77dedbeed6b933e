"""Facts of one file: fields, definitions, and content that is not today's Python."""

from __future__ import annotations

import pytest

from netmend.locate.language import LARGEST, decode
from netmend.locate.outline import outline_by_patterns, outline_by_syntax
from netmend.locate.parsing import Field, FileFacts, parse, shingles, squeeze

SOURCE = '''"""Reading of pictures."""
import os
from .base import Reader, Writer
from a.b import c

LIMIT = 3  # largest batch


class PictureReader(Reader):
    """Opens folders."""

    suffix = "png"

    @property
    def size(self):
        def inner():
            return 1
        return inner()

    async def load(self, folder, *, retries=2):
        raise ValueError(f"cannot open folder {folder} after so many tries")


def helper():
    return PictureReader().load(path="x")
'''
PYTHON_2 = SOURCE + '\nprint "old style"\nexec "x = 1"\n'


def definitions(facts: FileFacts) -> list[tuple[str, str, int, int]]:
    return [(one.name, one.kind, one.line, one.end) for one in facts.definitions]


@pytest.mark.parametrize("source", [SOURCE, PYTHON_2], ids=["parsed", "by patterns"])
def test_fields_hold_what_they_are_named_for(source: str) -> None:
    facts = parse(source.encode())
    assert facts.parsed is (source is SOURCE)
    assert set(facts.fields[Field.CLASS_NAMES]) == {"PictureReader"}
    assert {"size", "inner", "load", "helper", "LIMIT"} <= set(facts.fields[Field.NAMES])
    assert set(facts.fields[Field.CLASSES]) == {"pictur", "reader", "pictureread"}
    assert {"largest", "folder", "pictur"} <= set(facts.fields[Field.COMMENTS])
    assert {"retri", "suffix", "limit"} <= set(facts.fields[Field.VARIABLES])
    assert {"load", "helper"} & set(facts.fields[Field.CALLS]) >= {"load"}
    assert "png" in facts.fields[Field.STRINGS]
    assert "png" in facts.fields[Field.BODY]
    assert set(facts.imports) >= {"os", ".base:Reader", ".base:Writer", "a.b:c"}


def test_definitions_have_qualified_names_and_lines() -> None:
    expected = [
        ("PictureReader", "class", 9, 21),
        ("PictureReader.size", "method", 14, 18),
        ("PictureReader.size.inner", "function", 16, 17),
        ("PictureReader.load", "method", 20, 21),
        ("helper", "function", 24, 25),
    ]
    assert definitions(parse(SOURCE.encode())) == expected


def test_definitions_by_patterns_agree_up_to_decorators() -> None:
    by_syntax, by_patterns = outline_by_syntax(SOURCE), outline_by_patterns(SOURCE)
    assert by_syntax is not None
    assert [d[0] for d in by_patterns.definitions] == [d[0] for d in by_syntax.definitions]
    assert [d[3] for d in by_patterns.definitions] == [d[3] for d in by_syntax.definitions]


def test_words_of_inner_functions_belong_to_the_outer_one() -> None:
    by_name = {one.name: one for one in parse(SOURCE.encode()).definitions}
    assert "inner" in by_name["PictureReader.size"].words
    assert by_name["PictureReader.size.inner"].words == {}
    assert "retri" not in by_name["PictureReader"].words  # the head only


def test_literals_are_split_at_holes() -> None:
    facts = parse(SOURCE.encode())
    assert set(facts.fields[Field.SHINGLES]) == {"cannot open folder", "after so many", "so many tries"}
    facts = parse(b'x = "the value %d is less than {name!r} allows"')
    assert set(facts.fields[Field.SHINGLES]) == {"the value", "is less than"}


def test_shingles_are_runs_of_three_words() -> None:
    assert shingles("Cannot open the folder") == ["cannot open the", "open the folder"]
    assert shingles("two words") == ["two words"]
    assert shingles("one") == []


def test_squeezed_lines_ignore_layout() -> None:
    assert squeeze("   loss = criterion( x, y )") == squeeze("loss=criterion(x,y)") != ""
    assert squeeze("return x") == ""
    assert squeeze("import torch.nn.functional") == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\1\2 binary",
        b"def f(:\n",
        b"\xff\xfe\xfa x = 1",
        b"((((" * 5_000,
        b"x = " + b"-" * 100_000 + b"1",
    ],
    ids=["empty", "binary", "broken", "not UTF-8", "nested", "deep"],
)
def test_no_content_makes_it_fail(content: bytes) -> None:
    parse(content)


def test_declared_encodings_are_heeded() -> None:
    text = "# -*- coding: cp1251 -*-\nname = 'слово'\n"
    assert "слово" in decode(text.encode("cp1251")).text
    assert decode("x = 'é'\n".encode("latin-1")).text == "x = 'é'\n"
    assert decode(b"# coding: rot13\nx = '\xe9'\n").text != ""


def test_huge_files_are_cut_and_say_so() -> None:
    content = b"value = 1\n" * (LARGEST // 10 + 10)
    facts = parse(content)
    assert facts.cut
    assert facts.lines <= LARGEST // 10 + 1
    assert not parse(b"value = 1\n").cut


def test_generated_lines_are_left_out() -> None:
    facts = parse(b"table = [" + b"1, " * 4_000 + b"]\nkept = 1\n")
    assert facts.cut
    assert "kept" in facts.fields[Field.BODY]
