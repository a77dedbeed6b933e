"""How an example is written: a program of which only the special parts are given, with the change marked in it."""

from __future__ import annotations

from netmend.testing.example import example
from netmend.testing.programs import program

USUAL = """import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).mean()
    loss.backward()
    optimizer.step()
"""


def test_what_is_not_given_is_as_usual() -> None:
    assert program(loss="model(torch.ones(4, 2)).mean()") == USUAL


def test_a_network_and_what_is_imported() -> None:
    text = program(layers="self.fc = nn.Linear(2, 1)", forward="return F.relu(self.fc(x))", optimizer="")
    assert text.startswith("import torch\nimport torch.nn.functional as F\nfrom torch import nn\nclass Net(")
    assert text.endswith("        return F.relu(self.fc(x))\nmodel = Net()\n")


def test_a_change_within_a_line_is_where_the_fault_is() -> None:
    made = example(loss="model(torch.ones(4, 2)).⟨sum → mean⟩()")
    assert made.expected == USUAL
    assert made.before == USUAL.replace("mean", "sum")
    assert made.fault_line == 7


def test_lines_that_come_and_go() -> None:
    made = example(text="- model.eval()\nfor x in data:\n    + model.train()\n    model(x)", mark="model(x)")
    assert made.before == "import torch\nmodel.eval()\nfor x in data:\n    model(x)\n"
    assert made.expected == "import torch\nfor x in data:\n    model.train()\n    model(x)\n"
    assert made.fault_line == 4


def test_a_place_without_a_change() -> None:
    made = example(loss="⟨model(torch.ones(4, 2))⟩.mean()")
    assert not made.changes and made.before == USUAL and made.fault_line == 7
