"""Folders whose names are numbers, as a program lists them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from netmend.adapters.preparation.os import numbered
from netmend.adapters.preparation.watch import Preparation
from netmend.observe.sites import Sites


@pytest.fixture
def preparation() -> Iterator[Preparation]:
    watched = Preparation(Sites())
    watched.install()
    yield watched
    watched.remove()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["1", "2", "10"], True),
        (["c9", "c10", "c1"], True),
        (["01", "02", "10"], False),
        (["1", "2", "3"], False),
        (["cat", "dog", "10", "9"], False),
        (["a1", "b10", "b2", "a3"], False),
    ],
)
def test_numbers_in_the_order_of_words(names: list[str], expected: bool) -> None:
    assert bool(numbered(names)) is expected


@pytest.mark.parametrize("way", ["listdir", "iterdir", "glob", "scandir"])
def test_however_a_folder_is_listed(preparation: Preparation, tmp_path: Path, way: str) -> None:
    for name in ("1", "2", "10", "11"):
        (tmp_path / name).mkdir()
    if way == "listdir":
        found = os.listdir(tmp_path)  # noqa: PTH208 - what is tested
    elif way == "iterdir":
        found = [entry.name for entry in tmp_path.iterdir()]
    elif way == "glob":
        found = [Path(entry).name for entry in glob.glob(f"{tmp_path}/*")]  # noqa: PTH207 - what is tested
    else:
        with os.scandir(tmp_path) as entries:
            found = [entry.name for entry in entries]
    assert sorted(found) == ["1", "10", "11", "2"]
    facts = [fact for fact in preparation.facts.values() if "numbered" in fact.seen]
    assert [fact.seen["numbered"] for fact in facts] == [4]
    assert facts[0].site is not None and facts[0].site.file == __file__
