"""Every mutation operator: its examples, its page, its place. A new operator is tested by being there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import netmend
from netmend.changes.case import Case
from netmend.mutate.magnitude import Graded
from netmend.mutate.mutation import OPERATORS
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied
from netmend.testing.example import Example
from netmend.unit import page
from netmend.vocabulary import LEAVES

UNITS = list(OPERATORS.classes().values())
EXAMPLES = [
    pytest.param(unit, example, id=f"{unit.code} {example.title}")
    for unit in UNITS
    for example in unit.EXAMPLES
]


def test_no_operator_failed_to_load() -> None:
    assert OPERATORS.problems == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.code)
def test_an_operator_says_what_it_is(unit: Any) -> None:
    first, rest = page(unit)
    assert first.endswith(".") and rest
    assert unit.causes and all(cause in LEAVES for cause in unit.causes)
    assert any(example.changes for example in unit.EXAMPLES)
    assert isinstance(unit.crashes, bool) and isinstance(unit.rescales, bool)
    assert all(name and isinstance(name, str) for name in unit.published)
    assert not issubclass(unit, Graded) or unit.knobs.__doc__, (
        "the docstring of knobs() says what the scale is"
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Case]]:
    """Each program of the examples is recorded once."""
    found: dict[str, Case] = {}
    for _, example in ((unit, example) for unit in UNITS for example in unit.EXAMPLES):
        if example.before not in found:
            found[example.before] = recorded(tmp_path_factory.mktemp("program"), example.before)
    yield found


@pytest.mark.parametrize(("unit", "example"), EXAMPLES)
def test_an_example_becomes_what_it_should(unit: Any, example: Example, cases: dict[str, Case]) -> None:
    case = cases[example.before]
    mutations = list(unit().propose(case))
    if not example.changes:
        assert mutations == []
        return
    assert len(mutations) > example.nth, "nothing was proposed"
    chosen = mutations[example.nth]
    texts = applied({}, chosen.edits)
    assert texts is not None
    assert list(texts.values()) == [example.expected]
    for mutation in mutations:
        assert mutation.operator == unit.code and mutation.cause in unit.causes
        assert mutation.title


def recorded(folder: Path, source: str) -> Case:
    """Run the program as a script of its own under `netmend.watch`."""
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    watch = netmend.watch(directory=folder / "netmend", quiet=True, every=1)
    argv, sys.argv = sys.argv, [str(file)]
    try:
        with watch:
            exec(compile(source, str(file), "exec"), variables)
    finally:
        torch.set_grad_enabled(True)
        sys.argv = argv
    return Case(watch.trace, Sources(str(folder), str(file)))
