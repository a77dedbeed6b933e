"""The line that makes what a call is given first."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.lines.values import given_line
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

PROGRAM = """
flat = 1
def loss(logits, target):
    flat = logits.reshape(-1, 3)
    target = target.reshape(-1)
    return cross_entropy(flat, target)


def other(logits, target):
    return cross_entropy(logits.view(-1, 3), target)


def third(logits, target):
    return cross_entropy(logits, target)
"""


@pytest.mark.parametrize(("called", "made"), [(6, 4), (10, 10), (14, 14)])
def test_the_line_of_the_argument(tmp_path: Path, called: int, made: int) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    found = given_line(Sources(str(tmp_path), "train.py"), Site("train.py", called))
    assert found is not None and found.line == made
