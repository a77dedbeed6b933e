"""Where a loss is kept with its graph: in the loop itself, or by what calls a function of one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.lines.values import keeping
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

PROGRAM = """\
def train(x, y):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return {returned}

for x, y in loader:
    {kept}
"""


@pytest.mark.parametrize(
    ("returned", "kept", "line"),
    [
        ("loss", "total += train(x, y)", 8),
        ("loss", "losses.append(train(x, y))", 8),
        ("loss.item()", "total += train(x, y)", None),
        ("loss", "last = train(x, y)", None),
        ("model", "parts.append(train(x, y))", None),
    ],
)
def test_what_a_function_of_one_step_returns(
    tmp_path: Path, returned: str, kept: str, line: int | None
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(returned=returned, kept=kept), encoding="utf-8")
    found = keeping(Sources(str(tmp_path), "train.py"), Site("train.py", 3))
    assert (None if found is None else found.line) == line
