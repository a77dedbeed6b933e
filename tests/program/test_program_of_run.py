"""The evaluated files of a run: calls by their sites, loops through functions, and where data is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.program.counted_loops import loops_around
from netmend.program.makers import made_at
from netmend.program.of_run import EvaluatedProgram, program_of
from netmend.program.text.file import File
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

TRAINING = """
from data import batches


def step(model, x, y):
    out = model(x)
    loss = (out - y).mean()
    loss.backward()


def fit(model, rounds):
    for _ in range(rounds):
        for x, y in batches():
            step(model, x.float(), y)


fit(print, 3)
"""
DATA = """
import torch

inputs = torch.rand(8, 2)
targets = torch.rand(8)


def batches():
    return zip(inputs, targets)
"""


@pytest.fixture
def program(tmp_path: Path) -> EvaluatedProgram:
    (tmp_path / "train.py").write_text(TRAINING, encoding="utf-8")
    (tmp_path / "data.py").write_text(DATA, encoding="utf-8")
    return program_of(Sources(str(tmp_path), "train.py"))


def site(file: str, text: str, code: str) -> Site:
    line = next(number for number, written in enumerate(text.splitlines(), 1) if code in written)
    column = text.splitlines()[line - 1].index(code)
    return Site(file, line, column, line, column + len(code))


def test_a_call_is_found_by_its_site(program: EvaluatedProgram) -> None:
    events = program.at(site("train.py", TRAINING, "loss.backward()"))
    assert [event.call.method for event in events if event.call] == ["backward"]
    assert program.at(Site("train.py", 1)) == []
    assert program.at(None) == []


def test_loops_reach_through_functions(program: EvaluatedProgram) -> None:
    loops = loops_around(program, site("train.py", TRAINING, "loss.backward()"))
    assert [loop.lineno for _, loop in loops] == [13, 12]
    assert all(isinstance(file, File) and file is program.sources.file("train.py") for file, _ in loops)


def test_data_is_followed_into_another_file(program: EvaluatedProgram) -> None:
    made = made_at(program, site("train.py", TRAINING, "model(x)"), 0)
    assert made is not None and (Path(made.file).name, made.line) == ("data.py", 4)


def test_an_expression_stands_for_what_reaches_it(program: EvaluatedProgram) -> None:
    file = program.sources.file("train.py")
    assert file is not None
    call = next(file.calls("range"))
    assert [repr(value) for value in program.values("train.py", call.args[0])] == ["Const(3)"]
