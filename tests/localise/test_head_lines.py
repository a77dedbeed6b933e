"""Lines of a head in real source: the last call of a shared activation, the line where an objective is made."""

from __future__ import annotations

import textwrap
from pathlib import Path

from netmend.diagnose.examples.losses import given, layer, run_of, wanted
from netmend.diagnose.measures.heads import heads
from netmend.localise.case import Case
from netmend.localise.lines.head_lines import activation_line, objective_line, result_line, text_at
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModuleFact, Site

SOURCE = """
class Net(nn.Module):
    def __init__(self):
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.fc1(x))
        x = self.act(self.fc2(x))
        return x

def rule(out, y):
    chosen = out[:, y]
    return chosen.mean()

loss = rule(net(x), y)
loss.backward()
"""


def case(folder: Path, more: list[ModuleFact]) -> Case:
    (folder / "train.py").write_text(textwrap.dedent(SOURCE).lstrip(), encoding="utf-8")
    trace = run_of("cross_entropy", given(8, 4, "Relu", low=-2.0), wanted(8), *more)
    return Case(trace, (), Sources(str(folder), "train.py"))


def test_a_shared_activation_is_told_at_its_last_call(tmp_path: Path) -> None:
    shared = ModuleFact(
        "model.act",
        "ReLU",
        activation="relu",
        order=1,
        calls=2,
        created=Site("train.py", 3),
        called=Site("train.py", 6),
    )
    made = case(tmp_path, [shared])
    site, related = activation_line(made, heads(made.trace)[0], "relu")
    assert site is not None and site.line == 7 and Site("train.py", 3) in related
    assert text_at(made, site).startswith("`x = self.act(self.fc2(x))`")


def test_an_activation_of_its_own_is_told_where_it_was_created(tmp_path: Path) -> None:
    made = case(tmp_path, [layer("relu", 8, 4)])
    site, related = activation_line(made, heads(made.trace)[0], "relu")
    assert site == Site("train.py", 12) and Site("train.py", 15) in related


def test_the_line_of_an_objective(tmp_path: Path) -> None:
    made = case(tmp_path, [])
    backward = Site("train.py", 15)
    line = objective_line(made, backward)
    assert line is not None and line.line == 14
    assert objective_line(made, Site("train.py", 11)) == Site("train.py", 11)
    inside = result_line(made, Site("train.py", 11, function="rule"), backward)
    assert inside is not None and inside.line == 12
    assert result_line(made, Site("train.py", 14), backward) == line


def test_a_layer_made_before_watching_is_told_where_the_source_makes_it(tmp_path: Path) -> None:
    source = "model = nn.Sequential(nn.Linear(2, 1),\n    nn.Sigmoid())\nwith netmend.watch():\n    loss = criterion(model(x), y)\n"
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    last = ModuleFact("model.1", "Sigmoid", activation="sigmoid", order=1, called=Site("train.py", 4))
    trace = run_of("cross_entropy", given(8, 4, "Sigmoid", low=-2.0, high=2.0), wanted(8), last)
    made = Case(trace, (), Sources(str(tmp_path), "train.py"))
    site, _ = activation_line(made, heads(trace)[0], "sigmoid")
    assert site is not None and (Path(site.file).name, site.line) == ("train.py", 2)
    assert (
        text_at(made, Site("train.py", 4), "sigmoid") == "the end of the model that is called in train.py:4"
    )
    assert text_at(made, Site("train.py", 2), "sigmoid") == "`nn.Sigmoid())` in train.py:2"
