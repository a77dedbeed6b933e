"""Every repair: its examples, its page, its place. A new repair is tested by being there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import netmend
from netmend.program.text.sources import Sources
from netmend.repair.apply import applied
from netmend.repair.repair import REPAIRS, Case
from netmend.testing.example import Example
from netmend.unit import page
from netmend.vocabulary import LEAVES, Fault, Site, Trace

UNITS = list(REPAIRS.classes().values())
EXAMPLES = [
    pytest.param(unit, example, id=f"{unit.code} {example.title}")
    for unit in UNITS
    for example in unit.EXAMPLES
]


def test_no_repair_failed_to_load() -> None:
    assert REPAIRS.problems == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.code)
def test_a_repair_says_what_it_is(unit: Any) -> None:
    first, rest = page(unit)
    assert first.endswith(".") and rest
    assert unit.cures and all(cause in LEAVES for cause in unit.cures)
    assert any(example.changes for example in unit.EXAMPLES)
    assert isinstance(unit.explores, bool) and 1 <= unit.effort <= 5


@pytest.mark.parametrize(("unit", "example"), EXAMPLES)
def test_an_example_becomes_what_it_should(unit: Any, example: Example, tmp_path: Path) -> None:
    before = example.before.lstrip("\n")
    for name, text in example.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    trace = recorded(tmp_path, before, example)
    sources = Sources(str(tmp_path), str(tmp_path / "train.py"))
    fault = example_fault(unit, example, tmp_path)
    changes = list(unit().propose(Case(trace, sources, fault, example.arguments)))
    if not example.changes:
        assert changes == []
        return
    assert len(changes) > example.nth, "nothing was proposed"
    chosen = changes[example.nth]
    assert chosen.title and chosen.knob and chosen.cause
    if chosen.arguments is not None:
        assert " ".join(chosen.arguments) == example.new
        return
    texts = applied({}, chosen.edits)
    assert texts is not None, f"the edits cannot be made: {chosen.edits}"
    file = example.edited or "train.py"
    if example.old:
        times = example.whole.count(example.old)
        assert times == 1, f"{example.old!r} is there {times} times"
    assert texts[str(tmp_path / file)] == example.expected
    for change in changes:
        assert applied({}, change.edits) is not None or change.arguments is not None


def example_fault(unit: Any, example: Example, folder: Path) -> Fault | None:
    if not example.fault_line:
        return None
    site = Site(str(folder / "train.py"), example.fault_line)
    return Fault(example.cause or unit.cures[0], 0.9, example.component, site, "", "", "", "")


def recorded(folder: Path, source: str, example: Example) -> Trace:
    """Run the program as a script of its own under `netmend.watch`."""
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    variables: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    watch = netmend.watch(directory=folder / "netmend", quiet=True, every=1)
    argv, path, known = sys.argv, list(sys.path), set(sys.modules)
    sys.argv = [str(file), *example.arguments]
    sys.path.insert(0, str(folder))
    try:
        with watch:
            exec(compile(source, str(file), "exec"), variables)
    except Exception:
        if not example.raises:
            raise
    finally:
        torch.set_grad_enabled(True)  # a faulty program may have switched them off for good
        torch.set_default_dtype(torch.float32)
        sys.argv, sys.path[:] = argv, path
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(folder)):
                del sys.modules[name]
    return watch.trace
