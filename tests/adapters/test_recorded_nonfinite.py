"""Where the first NaN or infinity comes from: operation, direction, module and line, found without disturbing the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from nonfinite_programs import CASES, Case
from recording import record


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.parametrize("every", [1, 1000])
def test_the_origin_is_named(tmp_path: Path, case: Case, every: int) -> None:
    done = record(tmp_path, case.program, every=every)
    event = done.nonfinite
    assert event.detail["phase"] == case.phase, event.message
    operation = event.detail["operation"]
    assert any(
        operation == name or (" " in name and operation.startswith(name)) for name in case.operation
    ), event.message
    assert event.component == case.component or event.component.startswith(f"{case.component}."), (
        event.message
    )
    assert event.detail["what"] == case.what
    if case.mark:
        assert done.at(case.mark, event.site), event.message


def test_only_the_first_is_told(tmp_path: Path) -> None:
    done = record(tmp_path, Case("", (), "", "", forward="x = x.relu().log()", steps=8).program)
    assert done.nonfinite.step == 0
    assert done.trace.run.steps == 8


def test_the_step_of_a_later_failure_is_right(tmp_path: Path) -> None:
    forward = (
        "self.count = getattr(self, 'count', 0) + 1\nx = x / (0.0 if self.count == 4 else 1.0)  # <- here"
    )
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
    assert repr(done.variables["after"]) == repr(plain["after"])
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


def test_values_that_are_infinite_for_a_while_are_no_origin(tmp_path: Path) -> None:
    forward = "x = x.relu().log().exp()"
    loss = "out = net(x); loss = (out - out.detach()).sum().log() + F.mse_loss(out, y)  # <- here"
    done = record(tmp_path, Case("", (), "", "", forward=forward, loss=loss).program)
    assert done.nonfinite.component == "loss" and done.at("here", done.nonfinite.site)


def test_what_went_in_is_told(tmp_path: Path) -> None:
    done = record(tmp_path, Case("", (), "", "", forward="x = x.relu().log()").program)
    (given,) = done.nonfinite.detail["inputs"]
    assert given.startswith("6×8 in [0,")
