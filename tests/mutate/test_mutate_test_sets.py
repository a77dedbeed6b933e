"""Test sets and parts of them as the user writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netmend.errors import UsageError
from netmend.mutate.test_sets import FILE, FUNCTION, NAMES, PROGRAM, Rows, from_data, subsets
from netmend.mutate.test_sets import test_sets as named


def test_names_slices_files_and_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("held.npz").write_bytes(b"content")
    Path("data.py").write_text("def load(): ...")
    given = ("loader", "X_test,y_test", "late=x[800:],y[800:]", "held.npz", "ours=data.py:load")
    loader, pair, late, file, function = named(given, str(tmp_path))
    assert (loader.name, loader.kind, loader.rows) == ("loader", NAMES, (Rows("loader"),))
    assert pair.rows == (Rows("X_test"), Rows("y_test")) and pair.name == "X_test"
    assert late.name == "late" and late.rows[1] == Rows("y", 800, None)
    assert (file.kind, file.path, len(file.content)) == (FILE, "held.npz", 16)
    assert (function.kind, function.path, function.function) == (FUNCTION, "data.py", "load")
    assert [from_data(each.as_data()) for each in (late, file)] == [late, file]
    before = file.content
    Path("held.npz").write_bytes(b"other")
    assert named(("held.npz",), str(tmp_path))[0].content != before


def test_without_a_name_it_is_what_the_program_evaluates() -> None:
    (own,) = named((), ".")
    assert (own.name, own.kind) == ("test", PROGRAM)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a=", "names nothing"),
        ("gone.npz", "cannot be read"),
        ("gone.py:load", "cannot be read"),
        ("x[::2],y", "slices such as"),
        ("x[n:],y", "whole numbers"),
        ("f(x)", "not understood"),
        ("a,b,c", "3 parts"),
        ("training data=x,y", "cannot be the name"),
        ("x y", "not understood"),
    ],
)
def test_mistakes_are_told(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        named((text,), ".")


def test_two_sets_of_one_name() -> None:
    with pytest.raises(UsageError, match="called 'a'"):
        named(("a=x,y", "a=u,v"), ".")


def test_parts_of_sets() -> None:
    sets = named((), ".")
    by_class, first, random = subsets(("w=test:classes=0,2", "f=test:first=3", "r=test:random=3"), sets)
    labels = np.array([0, 1, 2, 0, 1])
    assert by_class.index(labels, 5).tolist() == [0, 2, 3] and by_class.words == "test, classes 0, 2"
    assert first.index(None, 5).tolist() == [0, 1, 2] and first.index(None, 2).tolist() == [0, 1]
    drawn = random.index(labels, 5)
    assert len(set(drawn.tolist())) == 3 and (drawn == random.index(labels, 5)).all()
    with pytest.raises(UsageError, match="no classes"):
        by_class.index(None, 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weak", "not understood"),
        ("w=other:first=3", "no test set 'other'"),
        ("test=test:first=3", "taken"),
        ("w=test:first=0", "at least one"),
        ("w=test:first=many", "numbers"),
        ("w=test:worst=3", "not understood"),
    ],
)
def test_mistakes_in_parts_are_told(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        subsets((text,), named((), "."))
