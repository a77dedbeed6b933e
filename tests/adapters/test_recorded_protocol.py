"""Protocol: what the loop calls, in which order, also where it calls too much, too little or in its own way."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

from netmend.vocabulary import OptimizerFact

START = """
x, y = torch.randn(12, 4), torch.arange(12) % 3
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
computed = []
def loss_of(part=slice(None)):
    loss = F.cross_entropy(net(x[part]), y[part])
    computed.append(loss.item())
    return loss
"""


def test_an_ordinary_loop(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
net.train()
for step in range(5):
    optimizer.zero_grad()
    loss_of().backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    optimizer.step()
    scheduler.step()
""",
    )
    usual = ["zero_grad", "forward", "loss", "backward", "clip", "clip", "step"]
    assert done.order_of(0) == ["train", *usual]
    for step in range(1, 5):
        assert done.order_of(step) == ["scheduler", *usual]
    assert [c.detail for c in done.calls_of(1) if c.what == "clip"] == ["norm", "value"]
    assert (
        len(done.trace.patterns) == 3
    )  # equal steps share a pattern; the last is what followed the last step
    clip = done.trace.table("clip")
    assert clip.column("limit").tolist() == [0.5] * 5 and (clip.column("norm") > 0).all()


def test_a_missing_zero_grad_shows(tmp_path: Path) -> None:
    done = record(tmp_path, START + "for step in range(4):\n    loss_of().backward()\n    optimizer.step()\n")
    assert all("zero_grad" not in done.order_of(step) for step in range(4))


def test_gradients_of_plain_tensors_that_are_replaced_by_zeros_are_found_clear(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        "import torch\nw = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for step in range(4):\n    torch.nn.functional.mse_loss(w * 2, torch.zeros(3)).backward()\n"
        "    opt.step()\n    w.grad = torch.zeros_like(w.grad)\n",
    )
    assert any(call.detail == "found clear" for call in done.calls_of(1))


def test_zero_grad_by_the_module_and_between_backward_and_step(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + "for step in range(3):\n    loss_of().backward()\n    net.zero_grad()  # <- clear\n    optimizer.step()\n",
    )
    assert done.order_of(1) == ["forward", "loss", "backward", "zero_grad", "step"]
    (call,) = [c for c in done.calls_of(1) if c.what == "zero_grad" and c.detail != "found clear"]
    assert done.at("clear", call.site) and call.component == "net"


def test_a_step_before_the_backward_pass_shows(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + "for step in range(3):\n    optimizer.zero_grad()\n    loss = loss_of()\n    optimizer.step()\n    loss.backward()\n",
    )
    assert done.order_of(0) == ["zero_grad", "forward", "loss", "step"]
    assert done.order_of(1) == ["backward", "zero_grad", "forward", "loss", "step"]


def test_gradient_accumulation(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
for step in range(3):
    optimizer.zero_grad()
    for part in range(4):
        (loss_of(slice(part, None, 4)) / 4).backward()
    optimizer.step()
""",
    )
    assert done.trace.run.steps == 3
    assert done.trace.series("step", "optimizer", "backwards")[1].tolist() == [4, 4, 4]
    assert done.order_of(1).count("backward") == 4 and done.order_of(1).count("step") == 1
    steps, losses = done.trace.loss
    means = [sum(done.variables["computed"][4 * k : 4 * k + 4]) / 16 for k in range(3)]
    assert steps.tolist() == [0, 1, 2] and losses == pytest.approx(means, rel=1e-5)


def test_an_optimizer_that_never_steps(tmp_path: Path) -> None:
    done = record(
        tmp_path, START + "for step in range(20):\n    optimizer.zero_grad()\n    loss_of().backward()\n"
    )
    assert done.trace.run.steps >= 11  # counted without a step, once that is clear
    assert all(
        "step" not in {c.what for c in p.calls if c.component == "optimizer"} for p in done.trace.patterns
    )
    ends = {c.detail for p in done.trace.patterns for c in p.calls if c.what == "step"}
    assert ends == {"none"}
    assert len(done.trace.loss[1]) >= 11
    assert all(p.optimizer == "optimizer" for p in done.trace.parameters)


def test_an_optimizer_that_never_steps_is_a_fact(tmp_path: Path) -> None:
    done = record(
        tmp_path, START + "for step in range(20):\n    optimizer.zero_grad()\n    loss_of().backward()\n"
    )
    fact = done.trace.get(OptimizerFact, "optimizer")
    assert fact is not None and fact.stepped is None and fact.groups[0].settings["lr"] == 0.1
