"""Mutations as edits: what becomes of the text, on which lines, and two at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from netmend.changes.case import Case
from netmend.mutate.mutation import (
    OPERATORS,
    Mutation,
    changed_lines,
    combined,
    every,
    relative_lines,
    texts_of,
)
from netmend.program.text.positions import lines_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Trace
from netmend.vocabulary.change import FileEdit, FileEdits

TEXT = "import torch\n\nrate = 0.1\nfor step in range(9):\n    clear()\n    step()\n"


def edit(file: Path, old: str, new: str) -> FileEdits:
    start = TEXT.index(old)
    return (FileEdit(str(file), lines_of(TEXT).edit(start, start + len(old), new)),)


def seeded(edits: FileEdits, operator: str = "M101") -> Mutation:
    return Mutation(operator, "HYP-LR-HIGH", "a title", edits)


def program(folder: Path) -> Path:
    file = folder / "train.py"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_the_text_of_a_mutant_is_told_by_its_relative_name(tmp_path: Path) -> None:
    file = program(tmp_path)
    texts = texts_of(edit(file, "0.1", "10.0"), str(tmp_path))
    assert texts == {"train.py": TEXT.replace("0.1", "10.0")}
    assert file.read_text(encoding="utf-8") == TEXT


def test_a_file_elsewhere_is_not_touched(tmp_path: Path) -> None:
    file = program(tmp_path)
    assert texts_of(edit(file, "0.1", "10.0"), str(tmp_path / "other")) is None


def test_edits_that_leave_no_python_are_refused(tmp_path: Path) -> None:
    assert texts_of(edit(program(tmp_path), "range(9)", "range(9"), str(tmp_path)) is None


def test_two_mutations_at_once(tmp_path: Path) -> None:
    file = program(tmp_path)
    one, other = edit(file, "0.1", "10.0"), edit(file, "    clear()\n", "")
    both = combined((seeded(one), seeded(other)))
    assert both is not None
    expected = TEXT.replace("0.1", "10.0").replace("    clear()\n", "")
    assert texts_of(both, str(tmp_path)) == {"train.py": expected}


def test_two_mutations_of_one_place_do_not_go_together(tmp_path: Path) -> None:
    file = program(tmp_path)
    assert combined((seeded(edit(file, "0.1", "1")), seeded(edit(file, "rate = 0.1", "rate = 5")))) is None


def test_two_mutations_may_need_the_same_import(tmp_path: Path) -> None:
    file = program(tmp_path)
    known = edit(file, "\n\nrate", "\nfrom torch import nn\nrate")
    one = seeded((*known, *edit(file, "clear()", "nn.clear()")))
    other = seeded((*known, *edit(file, "    step()", "    nn.step()")))
    # An import that replaces a blank line is no pure insertion; the same edit still counts once.
    both = combined((one, other))
    assert both is not None and len(both) == 3


def test_lines_are_those_of_the_mutated_text(tmp_path: Path) -> None:
    file = program(tmp_path)
    added = edit(file, "rate = 0.1\n", "more = 1\nrate = 0.1\n")
    later = edit(file, "    clear()\n", "")
    assert changed_lines(added) == {str(file): [3, 4]}
    assert changed_lines(later) == {str(file): [5]}
    assert changed_lines(later, [added]) == {str(file): [6]}
    assert relative_lines(changed_lines(later, [added]), str(tmp_path)) == [("train.py", 6)]


def test_an_operator_that_fails_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        code = "M999"

        def propose(self, case: Case) -> Iterator[Mutation]:
            yield seeded(())
            raise RecursionError("too deep")

    monkeypatch.setattr(OPERATORS, "all", lambda: (Broken(),))
    problems: list[str] = []
    assert len(every(Case(Trace(), Sources()), problems)) == 1
    assert problems == ["M999 failed (RecursionError: too deep)"]


def test_some_operators_can_be_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named:
        def __init__(self, code: str) -> None:
            self.code = code

        def propose(self, case: Case) -> Iterator[Mutation]:
            yield Mutation(self.code, "HYP-LR-HIGH", f"by {self.code}", (self.code,))  # type: ignore[arg-type]

    monkeypatch.setattr(OPERATORS, "all", lambda: (Named("M998"), Named("M999")))
    case = Case(Trace(), Sources())
    assert [each.operator for each in every(case, [])] == ["M998", "M999"]
    assert [each.operator for each in every(case, [], codes={"M999"})] == ["M999"]
