"""What the function returns that a schedule multiplies the rate with."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.lines.rates import returned_factor, set_by_hand
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

PROGRAM = """
def factor(step):
    if step < 10:
        return step / 10
    return 1.0

a = LambdaLR(optimizer, factor)
b = LambdaLR(optimizer, lr_lambda=lambda step: 0.9 ** step)
c = StepLR(optimizer, 3)
"""


@pytest.mark.parametrize(("made", "line"), [(7, 5), (8, 8), (9, None), (30, None)])
def test_the_line_that_returns(tmp_path: Path, made: int, line: int | None) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    found = returned_factor(Sources(str(tmp_path), "train.py"), Site("train.py", made))
    assert (None if found is None else found.line) == line


BY_HAND = """
optimizer = SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.step()
    {}
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('optimizer.param_groups[0]["lr"] *= 0.9', 5),
        ("optimizer.param_groups[0]['lr'] = rate / (1 + step)", 5),
        ('history["loss"] = loss.item()', None),
    ],
)
def test_a_rate_that_is_set_by_hand(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "train.py").write_text(BY_HAND.format(text), encoding="utf-8")
    found = set_by_hand(Sources(str(tmp_path), "train.py"), Site("train.py", 4))
    assert (None if found is None else found.line) == line
