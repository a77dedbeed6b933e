"""Facts about optimisers, schedulers, DataLoaders and the environment."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy
import pytest
import torch
from recording import record

from netmend.vocabulary import SchedulerFact

TRAIN = """
def train(steps, batches=None, **options):
    for step in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
"""
START = "x, y = torch.randn(12, 4), torch.arange(12) % 3\nnet = nn.Linear(4, 3)\n" + TRAIN


@pytest.mark.parametrize(
    ("made", "kind", "settings"),
    [
        ("torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, nesterov=True)", "SGD", {"lr": 0.2, "momentum": 0.9, "nesterov": True}),
        ("torch.optim.AdamW(net.parameters(), 3e-4, eps=1e-6)", "AdamW", {"lr": 3e-4, "eps": 1e-6, "betas": (0.9, 0.999)}),
        ("torch.optim.RMSprop(net.parameters(), alpha=0.5, centered=True)", "RMSprop", {"alpha": 0.5, "centered": True}),
    ],
)  # fmt: skip
def test_optimizers_keep_their_settings(
    tmp_path: Path, made: str, kind: str, settings: dict[str, object]
) -> None:
    done = record(tmp_path, START + f"optimizer = {made}\ntrain(2)")
    (fact,) = done.trace.optimizers
    assert (fact.name, fact.kind) == ("optimizer", kind)
    (group,) = fact.groups
    assert {name: group.settings[name] for name in settings} == settings
    assert group.parameters == ("net.weight", "net.bias") and group.unknown_parameters == 0


def test_learning_rate_given_as_a_tensor_is_a_setting_too(tmp_path: Path) -> None:
    done = record(
        tmp_path, START + "optimizer = torch.optim.Adam(net.parameters(), lr=torch.tensor(0.05))\ntrain(2)"
    )
    assert done.trace.series("rate", "optimizer[0]", "rate")[1].tolist() == [pytest.approx(0.05)]


def test_settings_given_as_tensors_are_kept(tmp_path: Path) -> None:
    done = record(
        tmp_path, START + "optimizer = torch.optim.Adam(net.parameters(), lr=torch.tensor(0.05))\ntrain(2)"
    )
    assert done.trace.optimizers[0].groups[0].settings["lr"] == pytest.approx(0.05)


def test_parameters_of_no_known_model_are_counted(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START + "spare = torch.zeros(3, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([*net.parameters(), spare], lr=0.1)\ntrain(2)",
    )
    (group,) = done.trace.optimizers[0].groups
    assert group.unknown_parameters == 1 and group.parameters[-1] == "spare"


def test_schedulers_and_the_rates_they_set(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
optimizer = torch.optim.SGD([{"params": [net.weight]}, {"params": [net.bias], "lr": 1.0}], lr=0.4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
used = []
for epoch in range(6):
    used.append([group["lr"] for group in optimizer.param_groups])
    train(1)
    scheduler.step()
""",
    )
    (fact,) = done.trace.all(SchedulerFact)
    assert (fact.kind, fact.optimizer) == ("StepLR", "optimizer")
    assert fact.settings["step_size"] == 2 and fact.settings["gamma"] == 0.5
    for group in (0, 1):
        table = done.trace.table("rate", f"optimizer[{group}]")
        # One row whenever the rate changes: what held at each step is the last row before it.
        held = [table.column("rate")[table.steps <= step][-1] for step in range(6)]
        assert held == pytest.approx([rates[group] for rates in done.variables["used"]])
        assert len(table) == 3


@pytest.mark.parametrize("kind", ["OneCycleLR", "ReduceLROnPlateau", "SequentialLR", "CosineAnnealingLR"])
def test_other_schedulers_are_one_call_per_step(tmp_path: Path, kind: str) -> None:
    made = {
        "OneCycleLR": "lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=10)",
        "ReduceLROnPlateau": "lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)",
        "SequentialLR": "lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer), "
        "lr_scheduler.ExponentialLR(optimizer, 0.5)], [2])",
        "CosineAnnealingLR": "lr_scheduler.CosineAnnealingLR(optimizer, 5)",
    }[kind]
    argument = "1.0" if kind == "ReduceLROnPlateau" else ""
    done = record(
        tmp_path,
        START
        + f"""
from torch.optim import lr_scheduler
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = {made}
used = []
for epoch in range(5):
    used.append(optimizer.param_groups[0]["lr"])
    train(1)
    scheduler.step({argument})
""",
    )
    (fact,) = done.trace.all(SchedulerFact)
    assert fact.kind == kind
    assert [done.order_of(step).count("scheduler") for step in range(5)] == [0, 1, 1, 1, 1]
    table = done.trace.table("rate", "optimizer[0]")
    held = [table.column("rate")[table.steps <= step][-1] for step in range(5)]
    assert held == pytest.approx(done.variables["used"])


LOADERS = """
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter([(x[i], y[i]) for i in range(12)])

x, y = torch.randn(12, 4), torch.arange(12) % 3
data = TensorDataset(x, y)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mixed = DataLoader(data, batch_size=5, shuffle=True, drop_last=True)
plain = DataLoader(data, batch_size=4)
drawn = DataLoader(data, batch_size=3, sampler=WeightedRandomSampler([1.0] * 12, 6))
stream = DataLoader(Stream(), batch_size=6)
held_out = DataLoader(data, batch_size=12)
for loader in (mixed, plain, drawn, stream):
    for inputs, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
net.eval()
with torch.no_grad():
    for inputs, labels in held_out:
        F.cross_entropy(net(inputs), labels)
for _ in DataLoader(data, batch_size=6):
    pass
"""


def test_loaders(tmp_path: Path) -> None:
    done = record(tmp_path, LOADERS)
    loaders = {fact.name: fact for fact in done.trace.loaders}
    mixed = loaders["mixed"]
    assert (mixed.samples, mixed.batch_size, mixed.shuffle, mixed.drop_last) == (12, 5, True, True)
    assert (mixed.dataset, mixed.sampler, mixed.workers) == ("TensorDataset", "RandomSampler", 0)
    assert (loaders["plain"].batch_size, loaders["plain"].shuffle) == (4, False)
    assert loaders["drawn"].shuffle is True and loaders["drawn"].sampler == "WeightedRandomSampler"
    assert loaders["stream"].samples is None and loaders["stream"].shuffle is None
    assert {name: fact.phase for name, fact in loaders.items()} == {
        "mixed": "training",
        "plain": "training",
        "drawn": "training",
        "stream": "training",
        "held_out": "evaluation",
        "loader": "unknown",
    }


def test_loader_with_workers_and_without_automatic_batches(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        START
        + """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return torch.ones(4) * index, index % 3

optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1)
for inputs, labels in loader:
    optimizer.zero_grad()
    F.cross_entropy(net(inputs), labels).backward()
    optimizer.step()
""",
    )
    (fact,) = done.trace.loaders
    assert (fact.workers, fact.samples, fact.dataset, fact.phase) == (1, 8, "Data", "training")
    assert done.trace.run.steps == 2


def test_environment(tmp_path: Path) -> None:
    done = record(tmp_path, START + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntrain(2)")
    environment = done.trace.environment
    assert environment.python == platform.python_version()
    assert environment.framework == f"torch {torch.__version__}"
    assert environment.numpy == numpy.__version__
    assert environment.threads == torch.get_num_threads()
    assert environment.default_dtype == "float32" and not environment.deterministic
    assert (environment.rank, environment.world_size) == (0, 1)
    assert environment.autocast is None and not environment.grad_scaler and not environment.compiled


def test_environment_names_the_device(tmp_path: Path) -> None:
    done = record(tmp_path, START + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntrain(2)")
    assert done.trace.environment.device == "cpu"


AMP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
computed = []
for step in range(4):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(net(x), y)
    computed.append(loss.item())
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
"""


def test_scaled_losses_are_recorded_unscaled(tmp_path: Path) -> None:
    done = record(tmp_path, START + AMP)
    assert done.trace.environment.grad_scaler
    assert done.trace.loss[1] == pytest.approx(done.variables["computed"])
    assert done.trace.series("scale", "GradScaler", "scale")[1].tolist() == [128.0] * 4
    assert done.module("net").output_dtype == "bfloat16"
    assert done.order_of(1) == ["zero_grad", "forward", "loss", "backward", "unscale", "step"]


def test_environment_says_which_type_autocast_uses(tmp_path: Path) -> None:
    done = record(tmp_path, START + AMP)
    assert done.trace.environment.autocast == "bfloat16"


COMPILED = """
net = torch.compile(net, backend="eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train(3)
"""


def test_compiled_models_are_recorded_by_their_parameters(tmp_path: Path) -> None:
    done = record(tmp_path, START + COMPILED)
    (model,) = done.trace.models
    assert model.compiled and model.kind == "Linear" and model.wrapper == "OptimizedModule"
    assert any("torch.compile" in sentence for sentence in done.trace.run.missing)
    assert not list(done.trace.tables_of("activation"))
    assert len(list(done.trace.tables_of("update"))) == 2
    assert done.trace.run.steps == 3 and len(done.trace.loss[0]) == 3


def test_environment_says_that_something_was_compiled(tmp_path: Path) -> None:
    done = record(tmp_path, START + COMPILED)
    assert done.trace.environment.compiled


def test_every_rank_records_a_trace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = record(tmp_path, START + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntrain(2)")
    assert (done.trace.environment.rank, done.trace.environment.world_size) == (1, 2)
    assert done.trace.run.steps == 2
