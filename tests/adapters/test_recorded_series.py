"""Tables over steps: losses, the best constant prediction, scores, gradients, weights and the updates really applied."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from recording import Recorded, record

from netmend.vocabulary import TargetFact

LOOP = """
computed, norms, weights, gradients = [], [], [], []
for step in range(6):
    optimizer.zero_grad()
    out = net(x[step % 2 :: 2])
    goal = y[step % 2 :: 2]
    loss = {loss}
    computed.append(loss.item())
    loss.backward()
    norms.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
    gradients.append([p.grad.clone() for p in net.parameters()])
    weights.append([p.detach().clone() for p in net.parameters()])
    optimizer.step()
weights.append([p.detach().clone() for p in net.parameters()])
"""


def trained(
    folder: Path, data: str, layers: str, loss: str, before: str = "", every: int | None = 1
) -> Recorded:
    program = f"{data}\nnet = nn.Sequential({layers})\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
    return record(folder, program + before + LOOP.format(loss=loss), every=every)


CLASSES = "x, y = torch.randn(20, 4), torch.tensor([0] * 9 + [1] * 7 + [2] * 4)[torch.randperm(20)]"
VALUES = "x = torch.randn(20, 4); y = torch.stack([x.sum(1) * 3 + 40, x[:, 0] ** 2 - 7], 1)"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return trained(
        tmp_path_factory.mktemp("series"),
        CLASSES,
        "nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)",
        "F.cross_entropy(out, goal)",
    )


def parameters(done: Recorded) -> list[str]:
    return [f"net.{name}" for name, _ in done.variables["net"].named_parameters()]


def test_the_loss_of_every_step_is_what_the_program_computed(done: Recorded) -> None:
    steps, values = done.trace.loss
    assert steps.tolist() == list(range(6))
    assert values == pytest.approx(done.variables["computed"], rel=1e-6)
    (name,) = [fact.name for fact in done.trace.losses]
    assert done.trace.series("progress", name, "loss")[1] == pytest.approx(values)
    assert done.trace.run.steps == 6 and done.trace.run.full_steps == 6


def test_the_loss_of_every_step_is_kept_when_statistics_are_not(tmp_path: Path) -> None:
    sparse = trained(tmp_path, CLASSES, "nn.Linear(4, 3)", "F.cross_entropy(out, goal)", every=4)
    assert sparse.trace.loss[1] == pytest.approx(sparse.variables["computed"], rel=1e-6)
    levels = sparse.trace.series("step", "optimizer", "level")[1].tolist()
    # A new optimiser earns the step after it a close look.
    assert (levels[0], levels[2:]) == (2, [1, 1, 2, 1])
    taken = sparse.trace.table("update", "net.0.weight").steps.tolist()
    assert taken == [step for step, level in enumerate(levels) if level == 2]


def test_gradient_norm_and_statistics(done: Recorded) -> None:
    assert done.trace.series("step", "optimizer", "gradient_norm")[1] == pytest.approx(
        done.variables["norms"], rel=1e-5
    )
    for index, name in enumerate(parameters(done)):
        table = done.trace.table("gradient", name)
        for step in range(6):
            gradient = done.variables["gradients"][step][index]
            assert table.column("mean")[step] == pytest.approx(float(gradient.mean()), abs=1e-7)
            assert table.column("rms")[step] == pytest.approx(
                float(gradient.square().mean().sqrt()), rel=1e-5
            )
            assert table.column("minimum")[step] == float(gradient.min())
            assert table.column("maximum")[step] == float(gradient.max())
        assert table.column("nonfinite").tolist() == [0] * 6


def test_updates_are_the_change_really_made(done: Recorded) -> None:
    weights = done.variables["weights"]
    for index, name in enumerate(parameters(done)):
        table = done.trace.table("update", name)
        for step in range(6):
            before, after = weights[step][index].double(), weights[step + 1][index].double()
            change = after - before
            assert table.column("rms")[step] == pytest.approx(float(change.square().mean().sqrt()), rel=1e-3)
            assert table.column("ratio")[step] == pytest.approx(
                float(change.norm() / before.norm()), rel=1e-3
            )
            assert table.column("maximum")[step] == pytest.approx(float(change.abs().max()), rel=1e-3)
            assert table.column("unchanged_share")[step] == float((change == 0).double().mean())


def test_weights_and_how_far_they_went_from_the_start(done: Recorded) -> None:
    weights = done.variables["weights"]
    for index, name in enumerate(parameters(done)):
        table = done.trace.table("weight", name)
        start = weights[0][index]
        for step in range(6):
            after = weights[step + 1][index]
            assert table.column("mean")[step] == pytest.approx(float(after.mean()), abs=1e-6)
            assert table.column("rms")[step] == pytest.approx(float(after.square().mean().sqrt()), rel=1e-5)
            drift = float((after - start).norm() / start.norm())
            assert table.column("drift")[step] == pytest.approx(drift, rel=1e-3)


def test_accuracy_is_that_of_what_the_loss_was_given(tmp_path: Path) -> None:
    program = CLASSES + "\nnet = nn.Linear(4, 3)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.5)\n"
    done = record(
        tmp_path,
        program
        + """
right = []
for step in range(5):
    optimizer.zero_grad()
    out = net(x)
    right.append((out.argmax(1) == y).float().mean().item())
    F.cross_entropy(out, y).backward()
    optimizer.step()
""",
    )
    assert done.trace.series("progress", done.loss.name, "metric")[1] == pytest.approx(
        done.variables["right"]
    )


def test_ignored_labels_count_neither_for_accuracy_nor_for_the_constant(tmp_path: Path) -> None:
    data = "x, y = torch.randn(20, 4), torch.tensor([0, 1, -100, 1] * 5)"
    done = trained(tmp_path, data, "nn.Linear(4, 2)", "F.cross_entropy(out, goal)", "right = []\n")
    share = 2 / 3
    expected = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    target = done.trace.get(TargetFact, done.loss.name)
    assert target is not None and target.constant_loss == pytest.approx(expected, rel=1e-6)
    assert set(target.class_counts) == {"0", "1"}


def test_r_squared_of_a_regression(tmp_path: Path) -> None:
    done = trained(tmp_path, VALUES, "nn.Linear(4, 2)", "F.mse_loss(out, goal)")
    # R² is against all targets seen so far: here both halves from the second step on.
    y = done.variables["y"].double().numpy()
    spread = y.var(axis=0).mean()
    metric = done.trace.series("progress", done.loss.name, "metric")[1]
    computed = np.asarray(done.variables["computed"])
    assert metric[-1] == pytest.approx(1 - computed[-1] / spread, rel=1e-4)
    constant = done.trace.series("progress", done.loss.name, "constant_loss")[1]
    assert constant[-1] == pytest.approx(spread, rel=1e-4)


CONSTANTS = [
    (CLASSES, 3, "F.cross_entropy(out, goal)"),
    (CLASSES, 3, "F.cross_entropy(out, goal, label_smoothing=0.2)"),
    (CLASSES, 3, "F.cross_entropy(out, goal, torch.tensor([0.2, 1.0, 5.0]))"),
    (CLASSES, 3, "F.cross_entropy(out, goal, torch.tensor([0.2, 1.0, 5.0]), label_smoothing=0.2)"),
    (CLASSES, 3, "F.cross_entropy(out, goal, reduction='sum')"),
    (CLASSES, 5, "F.cross_entropy(out, goal, label_smoothing=0.1)"),
    (CLASSES, 3, "F.nll_loss(out.log_softmax(1), goal)"),
    (CLASSES, 3, "F.cross_entropy(out, (F.one_hot(goal, 3) + 0.1) / 1.3)"),
    (CLASSES, 3, "F.cross_entropy(out, (F.one_hot(goal, 3) + 0.1) / 1.3, reduction='sum')"),
    (
        CLASSES,
        3,
        "F.cross_entropy(out, (F.one_hot(goal, 3) + 0.1) / 1.3, torch.tensor([0.2, 1.0, 5.0]), label_smoothing=0.2)",
    ),
    (CLASSES, 3, "F.cross_entropy(out, goal, torch.tensor([0.2, 1.0, 5.0]), reduction='sum')"),
    (VALUES, 2, "F.mse_loss(out, goal)"),
    (VALUES, 2, "F.mse_loss(out, goal, reduction='sum')"),
    (VALUES, 2, "F.l1_loss(out, goal)"),
    (VALUES, 2, "F.smooth_l1_loss(out, goal, beta=2.0)"),
    (VALUES, 2, "F.huber_loss(out, goal, delta=3.0)"),
    ("x = torch.randn(20, 4); y = x.sum(1, keepdim=True).exp()", 1, "F.l1_loss(out, goal)"),
    ("x = torch.randn(20, 4); y = x.sum(1, keepdim=True).exp()", 1, "F.huber_loss(out, goal, delta=0.5)"),
    ("x = torch.randn(20, 4); y = 20000 + x.sum(1, keepdim=True)", 1, "F.mse_loss(out, goal)"),
    (
        "x = torch.randn(20, 4); y = (x[:, :2] > 0.4).float()",
        2,
        "F.binary_cross_entropy_with_logits(out, goal)",
    ),
    (
        "x = torch.randn(20, 4); y = (x[:, :2] > 0.4).float()",
        2,
        "F.binary_cross_entropy_with_logits(out, goal, pos_weight=torch.tensor([3.0, 0.5]))",
    ),
    (
        "x = torch.randn(20, 4); y = (x[:, :1] > 0.4).float()",
        1,
        "F.binary_cross_entropy_with_logits(out, goal, pos_weight=torch.tensor(4.0))",
    ),
    (
        "x = torch.randn(20, 4); y = (x[:, :1] > 0.4).float()",
        1,
        "F.binary_cross_entropy(out.sigmoid(), goal)",
    ),
]


def lowest_loss(done: Recorded, width: int, loss: str) -> float:
    """The loss of the best constant row of outputs, found by optimisation."""
    import torch
    from torch.nn import functional

    y = done.variables["y"]
    start = y.double().mean(0) if y.dim() > 1 and y.shape[1] == width else torch.zeros(width)
    if "binary" in loss or "one_hot" in loss:
        start = torch.zeros(width)
    row = start.double().clone().requires_grad_()
    optimizer = torch.optim.LBFGS([row], max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe")
    goal = y.double() if y.is_floating_point() else y
    names = {"torch": torch.float64, "F": functional}
    halves = 2 if "sum" in loss else 1  # the program's batches hold half of the data

    def closure() -> float:
        optimizer.zero_grad()
        text = loss.replace("torch.tensor(", "torch.tensor(dtype=torch.float64, data=")
        names.update(torch=torch, out=row.expand(len(goal), width), goal=goal)
        value = eval(text, names) / halves
        value.backward()
        return float(value.detach())

    best = closure()
    for _ in range(5):
        optimizer.step(closure)  # type: ignore[no-untyped-call]
        best = min(best, closure())
    if "l1" in loss or "huber" in loss:
        # Kinks stop gradient methods: search each column by itself, among many candidates.
        best = min(best, _by_search(goal, loss, names))
    return best


def _by_search(goal: object, loss: str, names: dict[str, object]) -> float:
    import torch

    assert isinstance(goal, torch.Tensor)
    total = 0.0
    for column in goal.unbind(1):
        candidates = torch.linspace(float(column.min()), float(column.max()), 4001, dtype=torch.float64)
        losses = []
        for candidate in candidates:
            names.update(out=candidate.expand(len(column)), goal=column)
            losses.append(float(eval(loss, names)))
        total += min(losses)
    return total / goal.shape[1]


@pytest.mark.parametrize(("data", "width", "loss"), CONSTANTS)
def test_the_best_constant_predictor(tmp_path: Path, data: str, width: int, loss: str) -> None:
    done = trained(tmp_path, data, f"nn.Linear(4, {width})", loss)
    target = done.trace.get(TargetFact, done.loss.name)
    assert target is not None and target.constant_loss is not None
    assert target.constant_loss == pytest.approx(lowest_loss(done, width, loss), rel=2e-3)


def test_targets_are_counted(tmp_path: Path) -> None:
    done = trained(tmp_path, CLASSES, "nn.Linear(4, 3)", "F.cross_entropy(out, goal)")
    target = done.trace.get(TargetFact, done.loss.name)
    assert target is not None and dict(target.class_counts) == {"0": 27, "1": 21, "2": 12}
    done = trained(tmp_path, VALUES, "nn.Linear(4, 2)", "F.mse_loss(out, goal)")
    target = done.trace.get(TargetFact, done.loss.name)
    y = done.variables["y"].double()
    assert target is not None and target.samples == 60
    assert target.mean == pytest.approx(float(y.mean()), rel=1e-5)


def test_wall_time_runs_forward(done: Recorded) -> None:
    seconds = done.trace.series("step", "optimizer", "seconds")[1]
    assert all(later > earlier for earlier, later in itertools.pairwise(seconds))
    assert seconds[0] >= 0


def test_the_last_step_is_scored_even_where_looks_are_rare(tmp_path: Path) -> None:
    sparse = trained(tmp_path, CLASSES, "nn.Linear(4, 3)", "F.cross_entropy(out, goal)", every=4)
    (name,) = [fact.name for fact in sparse.trace.losses]
    table = sparse.trace.table("progress", name)
    assert table.steps[-1] == 5
    assert table.column("loss")[-1] == pytest.approx(sparse.variables["computed"][-1], rel=1e-6)
    assert np.isfinite(table.column("metric")[-1])


def test_old_arguments_say_how_a_loss_is_reduced(tmp_path: Path) -> None:
    done = trained(tmp_path, VALUES, "nn.Linear(4, 2)", "F.mse_loss(out, goal, size_average=False) * 1e-4")
    assert {fact.settings.get("reduction") for fact in done.trace.losses if fact.criterion == "mse_loss"} == {
        "sum"
    }
