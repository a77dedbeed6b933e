"""Small experiments with the program's own model and batch: what comes out, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recording import Recorded, record

from netmend.vocabulary import ProbeFact

LOOP = """
torch.manual_seed(0)
{data}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}
    def forward(self, x{more}):
        {forward}
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range({steps}):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x{given}), y)
    loss.backward()
    optimizer.step()
"""
SERIES = "x, y = torch.randn(12, 9, 6), torch.arange(12) % 3"
VECTORS = "x, y = torch.randn(12, 6), torch.arange(12) % 3"
IMAGES = "x, y = torch.cumsum(torch.cumsum(torch.randn(12, 3, 10, 10), 2), 3), torch.arange(12) % 3"
LINEAR = "self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 3)"


def tried(folder: Path, forward: str, layers: str = LINEAR, data: str = VECTORS, **how: Any) -> Recorded:
    settings = {"steps": 2, "more": "", "given": "", **how}
    indented = forward.replace("\n", "\n        ")
    return record(
        folder,
        LOOP.format(data=data, layers=layers.replace("\n", "\n        "), forward=indented, **settings),
    )


def outcome(done: Recorded, what: str) -> ProbeFact:
    (probe,) = done.trace.probes(what)
    return probe


def test_a_healthy_model(tmp_path: Path) -> None:
    done = tried(tmp_path, "return self.b(F.relu(self.a(x)))")
    independence = outcome(done, "batch independence")
    assert independence.component == "net" and independence.values["others"] == 0 < independence.values["own"]
    assert independence.values["input_shape"] == (12, 6) and independence.values["target_shape"] == (12,)
    assert outcome(done, "affine").values["curvature"] > 0.01
    assert outcome(done, "affine").values["weight_layers"] == 2
    assert outcome(done, "eval determinism").values["difference"] == 0
    assert outcome(done, "input dependency").values["change"] > 0.1
    assert not done.trace.probes("axis order") and not done.trace.probes("gradient check")


MIXING = [
    ("self.r, self.b = nn.GRU(6, 8), nn.Linear(8, 3)", "out, _ = self.r(x)  # <- here\nreturn self.b(out[:, -1])", "r"),
    ("self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 3)", "h = self.a(x).mean(1)\nh = h - h.mean(0)  # <- here\nreturn self.b(h)", ""),
    ("self.r, self.b = nn.LSTM(6, 8, 2, batch_first=True), nn.Linear(16, 3)", "_, (h, _) = self.r(x)\nh = h.view(len(x), -1)  # <- here\nreturn self.b(h)", ""),
    ("self.r, self.b = nn.LSTM(6, 8), nn.Linear(8, 3)", "x = x.view(9, len(x), 6)  # <- here\nreturn self.b(self.r(x)[0][-1])", ""),
    ("self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 3)", "h = self.a(x)\nh = h * h.softmax(0)  # <- here\nreturn self.b(h.sum(1))", ""),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "forward", "module"), MIXING)
def test_the_line_where_samples_are_mixed(tmp_path: Path, layers: str, forward: str, module: str) -> None:
    done = tried(tmp_path, forward, layers, SERIES)
    probe = outcome(done, "batch independence")
    assert probe.values["others"] > 1e-3
    assert done.at("here", probe.site)
    assert probe.values["module"] == (f"net.{module}" if module else "net")
    assert probe.values["batch_first"] is (False if module else None)


def test_an_axis_that_is_no_longer_that_of_the_samples(tmp_path: Path) -> None:
    data = "x, y = torch.randn(9, 9, 6), torch.arange(9) % 3"
    layers = "self.r, self.b = nn.GRU(6, 8, batch_first=True), nn.Linear(8, 3)"
    done = tried(tmp_path, "out, _ = self.r(x)\nlast = out[-1]  # <- here\nreturn self.b(last)", layers, data)
    probe = outcome(done, "batch independence")
    assert probe.values["axis"] == "lost" and probe.values["layers_batch_first"] is True
    assert done.at("here", probe.site)


def test_views_that_swap_axes(tmp_path: Path) -> None:
    layers = "self.a, self.b = nn.Conv1d(6, 4, 3), nn.Linear(4, 3)"
    done = tried(
        tmp_path, "h = x.view(len(x), 6, 9)  # <- here\nreturn self.b(self.a(h).mean(2))", layers, SERIES
    )
    probe = outcome(done, "axis order")
    assert done.at("here", probe.site)
    assert (probe.values["before"], probe.values["after"]) == ((12, 9, 6), (12, 6, 9))
    (tmp_path / "right").mkdir()
    right = "h = x.transpose(1, 2).unsqueeze(1).view(len(x), 6, 9)\nreturn self.b(self.a(h).mean(2))"
    right = right.replace("view", "reshape")
    assert not tried(tmp_path / "right", right, layers, SERIES).trace.probes("axis order")


@pytest.mark.parametrize(
    "forward", ["return self.b(self.a(x))", "return self.b(F.dropout(self.a(x), 0.5, self.training))"]
)
def test_models_without_a_bend(tmp_path: Path, forward: str) -> None:
    assert outcome(tried(tmp_path, forward), "affine").values["curvature"] < 1e-5


def test_dropout_that_does_not_stop(tmp_path: Path) -> None:
    done = tried(tmp_path, "h = F.relu(self.a(x))\nh = F.dropout(h)  # <- here\nreturn self.b(h)")
    probe = outcome(done, "eval determinism")
    assert probe.values["difference"] > 0.01 and probe.values["operation"] == "bernoulli"
    assert done.at("here", probe.site)


def test_inputs_without_effect(tmp_path: Path) -> None:
    done = tried(tmp_path, "return self.b(self.a(torch.zeros_like(x)))")
    assert outcome(done, "input dependency").values["change"] == 0
    (tmp_path / "one").mkdir()
    data = VECTORS + "; z = torch.randn(12, 2)"
    done = tried(tmp_path / "one", "return self.b(self.a(x))", data=data, more=", extra", given=", z")
    assert outcome(done, "input dependency").values["ignored"] == ("extra",)


def test_a_head_that_starts_at_zero_is_looked_at_again(tmp_path: Path) -> None:
    done = tried(tmp_path, "return self.b(F.relu(self.a(x)))", LINEAR + "\nnn.init.zeros_(self.b.weight)")
    probe = outcome(done, "input dependency")
    assert probe.values["change"] > 0  # after the first step


def test_images_read_with_channels_last(tmp_path: Path) -> None:
    layers, forward = (
        "self.a, self.b = nn.Conv2d(3, 4, 3), nn.Linear(4, 3)",
        "return self.b(F.relu(self.a(x)).mean((2, 3)))",
    )
    right = outcome(tried(tmp_path, forward, layers, IMAGES), "layout")
    assert right.values["given"] < 0.7 * right.values["channels_last"]
    (tmp_path / "wrong").mkdir()
    data = IMAGES + "; x = x.permute(0, 2, 3, 1).reshape(12, 3, 10, 10)"
    wrong = outcome(tried(tmp_path / "wrong", forward, layers, data), "layout")
    assert wrong.values["given"] > 1.5 * wrong.values["channels_last"]


FUNCTION = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        ctx.save_for_backward(h)
        return {value}
    @staticmethod
    def backward(ctx, gradient):
        (h,) = ctx.saved_tensors
        return {gradient}  # <- here
"""


@pytest.mark.parametrize(
    ("value", "gradient", "ratio"),
    [
        ("h * h", "gradient * h", 0.5),
        ("h.clamp(min=0)", "-gradient * (h > 0)", -1.0),
        ("h * h", "2 * gradient * h", 1.0),
        ("h.softmax(1)", "gradient * h.softmax(1) * (1 - h.softmax(1))", None),
        ("h.round()", "gradient", None),
        ("h.clone()", "-gradient", None),
    ],
)
def test_hand_written_gradients(tmp_path: Path, value: str, gradient: str, ratio: float | None) -> None:
    data = VECTORS + "\n" + FUNCTION.format(value=value, gradient=gradient)
    done = tried(tmp_path, "return self.b(Own.apply(3 * self.a(x)))", data=data)
    if value in ("h.round()", "h.clone()"):  # straight through, gradient reversal: on purpose
        assert not done.trace.probes("gradient check")
        return
    probe = outcome(done, "gradient check")
    assert done.at("here", probe.site) and probe.component == "Own"
    if ratio is None:
        assert probe.values["error"] > 0.1
    else:
        assert probe.values["ratio"] == pytest.approx(ratio, rel=1e-4)
        assert probe.values["error"] == pytest.approx(abs(ratio - 1), abs=1e-4)


def test_the_two_modes(tmp_path: Path) -> None:
    layers = LINEAR + "\nself.n = nn.BatchNorm1d(8)"
    for attempt in range(3):  # on a busy machine the later look may be left out as too dear
        folder = tmp_path / str(attempt)
        folder.mkdir()
        done = tried(folder, "return self.b(F.relu(self.n(self.a(x))))", layers, steps=70)
        if len(done.trace.probes("mode gap")) == 2:
            break
    early, late = done.trace.probes("mode gap")
    assert (early.step, late.step) == (16, 64)
    assert late.values["output"] < early.values["output"]
    assert late.values["loss_training"] == pytest.approx(late.values["loss_evaluation"], rel=0.3)


REFUSED = {
    "hook": "return self.b(F.relu(self.a(x)))\n    \nseen = []\ndef keep(*a): seen.append(1)\nNet.__init__ = (lambda make: lambda self: (make(self), self.a.register_forward_hook(keep))[0])(Net.__init__)",
    "global": "global CALLS\nCALLS += 1\nreturn self.b(F.relu(self.a(x)))",
    "file": "open('/dev/null').close()\nreturn self.b(F.relu(self.a(x)))",
    "iterator": "next(self.numbers)\nreturn self.b(F.relu(self.a(x)))",
}


@pytest.mark.parametrize("how", ["global", "file", "iterator"])
def test_models_that_cannot_be_run_again_unseen(tmp_path: Path, how: str) -> None:
    layers = LINEAR + "\nself.numbers = iter(range(1000))" * (how == "iterator")
    done = tried(tmp_path, REFUSED[how], layers, VECTORS + "; CALLS = 0", steps=3)
    assert not done.trace.all(ProbeFact)
    if how == "global":
        assert done.variables["CALLS"] == 3


def test_hooks_of_the_user_hear_of_their_own_passes_only(tmp_path: Path) -> None:
    layers = LINEAR + "\nself.seen = []\nself.a.register_forward_hook(lambda *a: self.seen.append(1))"
    done = tried(tmp_path, "return self.b(F.relu(self.a(x)))", layers, steps=3)
    assert not done.trace.all(ProbeFact)
    assert len(done.variables["net"].seen) == 3


@pytest.mark.parametrize(("module", "probed"), [("tensorboard.summary.writer", True), ("loading", False)])
def test_a_thread_that_writes_logs_keeps_no_model_from_being_probed(
    tmp_path: Path, module: str, probed: bool
) -> None:
    thread = f"""import threading
over = threading.Event()
def wait():
    over.wait()
wait.__module__ = {module!r}
threading.Thread(target=wait, daemon=True).start()"""
    done = tried(tmp_path, "return self.b(F.relu(self.a(x)))", data=f"{thread}\n{VECTORS}")
    done.variables["over"].set()
    assert bool(done.trace.probes("batch independence")) is probed
