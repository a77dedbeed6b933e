"""Programs that step in their own way: several optimisers, closures, scaled gradients, updates by hand, phases."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record

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


GAN = """
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
judge = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
g = torch.optim.Adam(generator.parameters(), lr=0.01)
d = torch.optim.Adam(judge.parameters(), lr=0.02)
rule = nn.BCEWithLogitsLoss()
real = torch.randn(16, 2) + 3
for step in range({steps}):
    fake = generator(torch.randn(16, 2))
    d.zero_grad()
    (rule(judge(real), torch.ones(16, 1)) + rule(judge(fake.detach()), torch.zeros(16, 1))).backward()
    d.step()
    g.zero_grad()
    rule(judge(fake), torch.ones(16, 1)).backward()
    g.step()
"""


@pytest.mark.parametrize("every", [1, None])
def test_two_models_with_two_optimizers(tmp_path: Path, every: int | None) -> None:
    done = record(tmp_path, GAN.format(steps=60), every=every)
    assert {m.name for m in done.trace.models} == {"generator", "judge"}
    assert {o.name for o in done.trace.optimizers} == {"g", "d"}
    assert done.trace.run.steps == 120
    held = {p.name: p.optimizer for p in done.trace.parameters}
    assert held["generator.0.weight"] == "g" and held["judge.0.weight"] == "d"
    for parameter in ("generator.0.weight", "judge.0.weight"):
        assert len(done.trace.table("update", parameter)) >= 4
    assert len(done.trace.table("step", "g")) > 5 and len(done.trace.table("step", "d")) > 5
    assert done.trace.series("rate", "d[0]", "rate")[1].tolist() == [0.02]


def test_lbfgs_evaluates_its_closure_several_times(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x = torch.linspace(-2, 2, 20)[:, None]
y = x.sin()
net = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
calls = []
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    calls.append(loss.item())
    loss.backward()
    return loss
counts = []
for step in range(4):
    before = len(calls)
    optimizer.step(closure)
    counts.append(len(calls) - before)
""",
    )
    assert done.trace.run.steps == 4
    assert done.trace.series("step", "optimizer", "backwards")[1].tolist() == done.variables["counts"]
    # The first step begins before the model has been called: its parameters have no names yet.
    assert {1, 2, 3} <= set(done.trace.table("update", "net.0.weight").steps.tolist())
    assert {1, 2, 3} <= set(done.trace.table("gradient", "net.0.weight").steps.tolist())
    assert done.trace.optimizers[0].groups[0].parameters[0] == "net.0.weight"
    assert all(parameter.tied_to is None for parameter in done.trace.parameters)
    (step,) = {c.detail for p in done.trace.patterns for c in p.calls if c.what == "step"}
    assert step == "closure"


def test_steps_that_a_grad_scaler_skips(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=2.0**-40, growth_interval=1000)
moved = []
for step in range(6):
    optimizer.zero_grad()
    scaler.scale(loss_of() * 10).backward()
    before = net[0].weight.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    moved.append(not torch.equal(before, net[0].weight))
""",
    )
    moved = done.variables["moved"]
    assert not all(moved) and any(moved)
    details = ["".join(c.detail for c in done.calls_of(step) if c.what == "step") for step in range(6)]
    assert details == ["" if stepped else "skipped by GradScaler" for stepped in moved]
    assert done.trace.run.steps == 6
    scales = done.trace.series("scale", "GradScaler", "scale")[1]
    assert len(scales) == 6 and scales[0] == 2.0**87


def test_skipped_steps_are_no_nonfinite_event(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=2.0**-40)
for step in range(4):
    optimizer.zero_grad()
    scaler.scale(loss_of() * 10).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    )
    assert not [event for event in done.trace.events if event.kind == "nonfinite"]
    assert len(done.trace.table("clip")) == 4


@pytest.mark.parametrize(
    "update",
    [
        "    with torch.no_grad():\n        for p in net.parameters():\n            p -= 0.1 * p.grad\n            p.grad = None\n",
        "    for p in net.parameters():\n        p.data -= 0.1 * p.grad\n        p.grad.zero_()\n",
    ],
)
def test_updates_by_hand(tmp_path: Path, update: str) -> None:
    start = START.replace("optimizer = torch.optim.SGD(net.parameters(), lr=0.1)", "")
    done = record(tmp_path, start + "for step in range(5):\n    loss_of().backward()\n" + update)
    assert done.trace.run.steps == 5
    assert done.trace.loss[1] == pytest.approx(done.variables["computed"], rel=1e-6)
    assert {c.detail for p in done.trace.patterns for c in p.calls if c.what == "step"} == {"by hand"}
    ratio = done.trace.series("update", "net.0.weight", "ratio")[1]
    assert len(ratio) == 5 and (ratio > 0).all()
    assert len(done.trace.table("gradient", "net.2.bias")) == 5


def test_plain_tensors_trained_by_hand(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x = torch.randn(20, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
w = torch.zeros(3, requires_grad=True)
computed = []
for step in range(5):
    loss = ((x @ w - y) ** 2).mean()
    computed.append(loss.item())
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""",
    )
    assert done.trace.run.steps == 5
    assert done.trace.loss[1] == pytest.approx(done.variables["computed"], rel=1e-6)
    assert done.parameter("w").shape == (3,)
    assert len(done.trace.table("update", "w")) >= 4


def test_several_phases_with_new_models_and_optimizers(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x, y = torch.randn(12, 4), torch.arange(12) % 3
def fit(model, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for step in range(4):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
for lr in (0.1, 0.2):
    fit(nn.Linear(4, 3), lr)
""",
    )
    assert [m.name for m in done.trace.models] == ["model", "model#2"]
    assert [o.groups[0].settings["lr"] for o in done.trace.optimizers] == [0.1, 0.2]
    assert done.trace.run.steps == 8
    first, second = done.trace.optimizers
    assert done.trace.table("step", first.name).steps.tolist() == [0, 1, 2, 3]
    assert done.trace.table("step", second.name).steps.tolist() == [4, 5, 6, 7]


def test_a_long_evaluation_is_folded(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
for epoch in range(2):
    net.eval()
    with torch.no_grad():
        for part in range(40):
            loss_of(slice(part % 4, None, 4))
    net.train()
    optimizer.zero_grad()
    loss_of().backward()
    optimizer.step()
""",
    )
    calls = done.calls_of(1)
    assert len(calls) < 12
    assert done.order_of(1).count("forward") == 41


def test_a_program_that_raises_keeps_what_was_seen(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
for step in range(4):
    optimizer.zero_grad()
    loss_of().backward()
    optimizer.step()
    if step == 2:
        raise ValueError("out of data")
""",
        raises=True,
    )
    assert isinstance(done.problem, ValueError)
    assert (done.trace.run.status, done.trace.run.exception) == ("failed", "ValueError: out of data")
    assert done.trace.run.steps == 3 and len(done.trace.loss[0]) == 3


WITHIN_ONE_CALL = """
torch.manual_seed(0)
x = torch.randn(64, 3)
y = torch.sin(x).sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=150, tolerance_grad=0, tolerance_change=0)
calls = []


def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    calls.append(loss.item())
    {extra}
    return loss


{run}
"""


def test_many_closures_within_one_call_are_steps_of_their_own(tmp_path: Path) -> None:
    done = record(tmp_path, WITHIN_ONE_CALL.format(extra="", run="optimizer.step(closure)"))
    calls = done.variables["calls"]
    assert len(calls) > 100
    assert len(calls) - 40 < done.trace.run.steps < len(calls)
    assert done.trace.loss[1][-1] == pytest.approx(calls[-1], rel=1e-5)
    assert done.trace.run.status == "finished"


def test_an_interruption_within_the_only_call_still_shows_training(tmp_path: Path) -> None:
    extra = "if len(calls) == 12: raise KeyboardInterrupt"
    run = "try:\n    optimizer.step(closure)\nexcept KeyboardInterrupt:\n    pass"
    done = record(tmp_path, WITHIN_ONE_CALL.format(extra=extra, run=run))
    assert done.trace.run.steps == 1
    assert done.trace.loss[1][-1] == pytest.approx(sum(done.variables["calls"]) / 12, rel=1e-5)
