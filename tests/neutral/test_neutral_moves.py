"""Every move: its examples, its page, its place. A new move is tested by being there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import netmend
from netmend.changes.case import Case
from netmend.neutral.move import MOVES
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied
from netmend.repair.repair import REPAIRS
from netmend.testing.example import Example
from netmend.unit import page
from netmend.vocabulary import LEAVES, Trace

UNITS = list(MOVES.classes().values())
EXAMPLES = [
    pytest.param(unit, example, id=f"{unit.code} {example.title}")
    for unit in UNITS
    for example in unit.EXAMPLES
]


def test_no_move_failed_to_load() -> None:
    assert MOVES.problems == [] and len(UNITS) >= 10
    assert not set(MOVES.classes()) & set(REPAIRS.classes())


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.code)
def test_a_move_says_what_it_is(unit: Any) -> None:
    first, rest = page(unit)
    assert first.endswith(".") and rest
    assert unit.causes and all(cause in LEAVES for cause in unit.causes)
    assert any(example.changes for example in unit.EXAMPLES)
    assert 1 <= unit.effort <= 5


@pytest.mark.parametrize(("unit", "example"), EXAMPLES)
def test_an_example_becomes_what_it_should(unit: Any, example: Example, tmp_path: Path) -> None:
    trace = recorded(tmp_path, example.whole)
    sources = Sources(str(tmp_path), str(tmp_path / "train.py"))
    changes = list(unit().propose(Case(trace, sources, None, example.arguments)))
    if not example.changes:
        assert changes == []
        return
    titles = [change.title for change in changes]
    assert len(changes) > example.nth, "nothing was proposed"
    for change in changes:
        assert change.title and change.knob and change.cause in unit.causes and change.repair == unit.code
        assert applied({}, change.edits) is not None, f"the edits of {change.title} cannot be made"
    texts = applied({}, changes[example.nth].edits) or {}
    assert texts[str(tmp_path / "train.py")] == example.expected, titles


def recorded(folder: Path, source: str) -> Trace:
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    watch = netmend.watch(directory=folder / "netmend", quiet=True, every=1)
    argv = sys.argv
    sys.argv = [str(file)]
    try:
        with watch:
            exec(compile(source, str(file), "exec"), {"__name__": "__main__", "__file__": str(file)})
    finally:
        sys.argv = argv
    return watch.trace
