"""Where the first NaN or infinity comes from: operation, direction, module and line, found without disturbing the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from recording import record

LOOP = """
{data}
{classes}
net = {net}
optimizer = torch.optim.SGD(net.parameters(), lr={rate})
for step in range({steps}):
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()  # <- step
"""


@dataclass(frozen=True)
class Case:
    """A program that goes wrong, and what must be said about it. The guilty line ends in `# <- here`."""

    name: str
    operation: tuple[str, ...]  # any of these names
    phase: str
    component: str
    net: str = "Net()"
    forward: str = ""  # body of Net.forward, after x = self.first(x)
    loss: str = "loss = F.mse_loss(net(x), y)"
    data: str = "x, y = torch.randn(6, 4), torch.randn(6, 3)"
    rate: float = 0.1
    what: str = "loss"
    mark: str = "here"
    steps: int = 3

    @property
    def program(self) -> str:
        body = "\n        ".join(self.forward.splitlines())
        classes = (
            "class Inner(nn.Module):\n    def forward(self, x):\n        return x.log()  # <- inner\n"
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.first = nn.Linear(4, 8)\n        self.inner = Inner()\n        self.last = nn.Linear(8, 3)\n"
            f"    def forward(self, x):\n        x = self.first(x)\n        {body}\n        return self.last(x)\n"
        )
        return LOOP.format(
            data=self.data,
            classes=classes if self.net == "Net()" else "",
            net=self.net,
            rate=self.rate,
            loss=self.loss,
            steps=self.steps,
        )


CASES = [
    Case("log of zero", ("log",), "forward", "net", forward="x = x.relu().log()  # <- here"),
    Case("log in a child", ("log",), "forward", "net.inner", forward="x = self.inner(x.relu())", mark="inner"),
    Case("division by zero", ("div",), "forward", "net", forward="x = x / (x - x.detach())  # <- here"),
    Case("exponential overflows", ("exp",), "forward", "net", forward="x = torch.exp(x * 1000)  # <- here"),
    Case("power overflows", ("pow",), "forward", "net", forward="x = (x * 1e6) ** 8  # <- here"),
    Case(
        "attention row that is masked out",
        ("_softmax", "softmax"),
        "forward",
        "net",
        forward="scores = x @ x.T\nmask = torch.zeros(6, 6, dtype=torch.bool)\nmask[2] = True\n"
        "scores = scores.masked_fill(mask, float('-inf'))\nx = scores.softmax(-1) @ x  # <- here",
    ),
    Case(
        "variance of one value",
        ("var", "std"),
        "forward",
        "net",
        forward="x = x / x[:1].std(dim=0)  # <- here",
    ),
    Case(
        "NaN in the data",
        ("the input of the model",),
        "data",
        "input",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.randn(6, 3)\nx[2, 1] = float('nan')",
        mark="",
    ),
    Case(
        "NaN in the targets",
        ("the target of the loss",),
        "data",
        "target",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.randn(6, 3)\ny[2, 1] = float('nan')",
        mark="",
    ),
    Case(
        "square root at zero, backward",
        ("sqrt",),
        "backward",
        "net",
        forward="x = (x - x.detach()).square().sqrt()  # <- here",
        what="gradient",
    ),
    Case(
        "arc cosine at one, backward",
        ("acos",),
        "backward",
        "net",
        forward="x = torch.acos(x / x.detach())  # <- here",
        what="gradient",
    ),
    Case(
        "where does not protect the backward pass",
        ("div", "sqrt", "log"),
        "backward",
        "net",
        forward="x = x.relu()\nx = torch.where(x > 0, x.sqrt(), torch.zeros_like(x))  # <- here",
        what="gradient",
    ),
    Case(
        "power below one at zero, backward",
        ("pow",),
        "backward",
        "net",
        forward="x = x.relu() ** 0.5  # <- here",
        what="gradient",
    ),
    Case(
        "0/0 in a hand-written loss",
        ("div",),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="loss = ((net(x) - y).square().sum() * 0) / (y * 0).sum()  # <- here",
    ),
    Case(
        "log of zero in a hand-written loss",
        ("log",),
        "forward",
        "loss",
        net="nn.Sequential(nn.Linear(4, 3), nn.ReLU())",
        loss="loss = -(y * net(x).log()).mean()  # <- here",
    ),
    Case(
        "norm at zero in the loss, backward",
        ("norm", "linalg_vector_norm", "sqrt"),
        "backward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="out = net(x); loss = (out - out.detach()).square().sum(1).sqrt().mean()  # <- here",
        what="gradient",
    ),
    Case(
        "mean over nothing",
        ("mean",),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        loss="loss = net(x)[y > 100].mean()  # <- here",
    ),
    Case(
        "cross entropy whose labels are all ignored",
        ("cross_entropy", "nll_loss_forward", "nllloss", "nll_loss"),
        "forward",
        "loss",
        net="nn.Linear(4, 3)",
        data="x, y = torch.randn(6, 4), torch.full((6,), -100)",
        loss="loss = F.cross_entropy(net(x), y)  # <- here",
    ),
    Case(
        "rate far too high",
        ("the optimiser step before",),
        "update",
        "net",
        net="nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))",
        rate=1e30,
        mark="step",
        steps=6,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("every", [1, 1000])
def test_the_origin_is_named(tmp_path: Path, case: Case, every: int) -> None:
    done = record(tmp_path, case.program, every=every)
    event = done.nonfinite
    assert event.detail["phase"] == case.phase, event.message
    operation = event.detail["operation"]
    assert any(operation == name or (" " in name and operation.startswith(name)) for name in case.operation), (
        event.message
    )
    assert event.component == case.component or event.component.startswith(f"{case.component}."), event.message
    assert event.detail["what"] == case.what
    if case.mark:
        assert done.at(case.mark, event.site), event.message


def test_only_the_first_is_told(tmp_path: Path) -> None:
    done = record(tmp_path, Case("", (), "", "", forward="x = x.relu().log()", steps=8).program)
    assert done.nonfinite.step == 0
    assert done.trace.run.steps == 8


def test_the_step_of_a_later_failure_is_right(tmp_path: Path) -> None:
    forward = "self.count = getattr(self, 'count', 0) + 1\nx = x / (0.0 if self.count == 4 else 1.0)  # <- here"
    done = record(tmp_path, Case("", (), "", "", forward=forward, steps=6).program)
    assert done.nonfinite.step == 3
    assert done.variables["net"].count == 6  # the replay is not one of the program's own calls


QUIET = """
import random
import numpy as np

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(8, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = self.drop(self.norm(self.first(x)))
        x = x + torch.randn(8) + np.random.rand() + random.random()
        print("forward", self.calls)
        if self.calls == 3:
            x = {trouble}
        return self.last(x)

random.seed(1)
np.random.seed(1)
net = Net()
x, y = torch.randn(6, 4), torch.randn(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
after = [torch.rand(1).item(), float(np.random.rand()), random.random()]
after += [net.norm.running_mean.tolist(), int(net.norm.num_batches_tracked), net.calls]
"""


@pytest.mark.parametrize("trouble", ["(x * 0).log()", "(x - x.detach()).square().sqrt()"])
def test_the_replay_disturbs_nothing(
    tmp_path: Path, trouble: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch
    from recording import HEAD

    program = QUIET.replace("{trouble}", trouble)
    plain: dict[str, object] = {"__name__": "__main__"}
    exec(compile(HEAD + program, "plain.py", "exec"), plain)
    alone = capsys.readouterr()
    generator = torch.get_rng_state()
    done = record(tmp_path, program)
    watched = capsys.readouterr()
    assert done.nonfinite.step == 2
    assert done.variables["after"] == plain["after"]
    assert (watched.out, watched.err) == (alone.out, alone.err)
    assert torch.equal(torch.get_rng_state(), generator)


def test_healthy_programs_have_no_such_event(tmp_path: Path) -> None:
    case = Case("", (), "", "", net="nn.Linear(4, 3)")
    assert not [event for event in record(tmp_path, case.program).trace.events if event.kind == "nonfinite"]


def test_values_that_are_meant_to_be_infinite_are_no_origin(tmp_path: Path) -> None:
    forward = (
        "scores = x @ x.T\nscores = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), float('-inf'))\n"
        "x = scores.softmax(-1) @ x\nx = x.relu().log()  # <- here"
    )
    done = record(tmp_path, Case("", (), "", "", forward=forward).program)
    assert done.nonfinite.detail["operation"] == "log" and done.at("here", done.nonfinite.site)


def test_what_went_in_is_told(tmp_path: Path) -> None:
    done = record(tmp_path, Case("", (), "", "", forward="x = x.relu().log()").program)
    (given,) = done.nonfinite.detail["inputs"]
    assert given.startswith("6×8 in [0,")
