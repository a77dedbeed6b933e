"""Which layer feeds which, through names, functions of the program and reshaping."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.program.direct_connection import handed_on
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModuleFact, Site

PROGRAM = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)

    def forward(self, features):
        return self.out(features.flatten(1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.act = nn.Linear(4, 4), nn.Linear(4, 4), nn.ReLU()
        self.head = Head()

    def forward(self, x):
        h = self.first(x)
        h = self.act(h)
        if x.mean() > 0:
            h = h.view(-1, 4)
        y = self.second(h)
        return self.head(y)


Net()(torch.rand(2, 4))
"""


def layer(file: Path, name: str, code: str) -> ModuleFact:
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if code in text)
    column = PROGRAM.splitlines()[line - 1].index(code)
    site = Site(str(file), line, column, line, column + len(code))
    return ModuleFact(name, "Linear", model="net", called=site)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("first", "second", False), ("act", "second", True), ("second", "out", True), ("act", "out", False)],
)
def test_only_reshaping_lies_between(tmp_path: Path, first: str, second: str, expected: bool) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM, encoding="utf-8")
    calls = {
        "first": "self.first(x)",
        "act": "self.act(h)",
        "second": "self.second(h)",
        "out": "self.out(features.flatten(1))",
    }
    layers = [layer(file, name, calls[name]) for name in (first, second)]
    assert handed_on(Sources(str(tmp_path), "train.py"), *layers) is expected
