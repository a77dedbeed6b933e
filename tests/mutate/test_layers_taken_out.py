"""A layer taken out of a program takes nothing else with it."""

from __future__ import annotations

from pathlib import Path

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import layer_removed
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModuleFact, Site, Trace

PROGRAM = """\
from torch import nn

net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
"""


def layer(file: Path, at: str) -> ModuleFact:
    line = PROGRAM.splitlines()[2]
    column = line.index(at)
    end = len(line) if at.startswith("nn.Seq") else column + len(at)
    return ModuleFact("net.1", "ReLU", "net", created=Site(str(file), 3, column, 3, end))


def test_only_the_layer_goes(tmp_path: Path) -> None:
    """The layers of a deep copy stand at the line that made the whole model."""
    file = tmp_path / "train.py"
    file.write_text(PROGRAM, encoding="utf-8")
    facts = {"module": {"net": ModuleFact("net", "Sequential", leaf=False)}}
    case = Case(Trace(facts), Sources(str(tmp_path), str(file)))
    assert layer_removed(case, layer(file, "nn.ReLU()"))
    assert layer_removed(case, layer(file, "nn.Sequential(")) == ()
