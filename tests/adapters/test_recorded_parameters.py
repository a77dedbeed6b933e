"""Facts about parameters: symmetry, what is frozen, tied or held by no optimiser, and layers that are registered nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from recording import record

from netmend.vocabulary import ModuleFact, OptimizerFact

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
DATA = "x, y = torch.randn(12, 4), torch.arange(12) % 3\n"


@pytest.mark.parametrize(
    ("initialise", "share"),
    [
        ("nn.init.constant_(net[0].weight, 0.3)", 1.0),
        ("nn.init.zeros_(net[0].weight)", 1.0),
        ("net[0].weight.data[1] = net[0].weight.data[5]", 0.25),
        ("pass", 0.0),
        # Rows that only nearly agree are different units.
        ("net[0].weight.data[1] = net[0].weight.data[5] * 1.01", 0.0),
    ],
)
def test_symmetric_share_counts_units_with_equal_weights(
    tmp_path: Path, initialise: str, share: float
) -> None:
    model = "net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))\n"
    done = record(tmp_path, DATA + model + initialise + TRAIN)
    assert done.parameter("net.0.weight").symmetric_share == share
    assert done.parameter("net.0.bias").symmetric_share is None


def test_frozen_tied_and_unheld_parameters(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.free = nn.Linear(4, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.free(self.second(self.first(x).relu())))

net = Net()
net.first.bias.requires_grad_(False)
optimizer = torch.optim.AdamW([
    {"params": [net.first.weight, net.second.bias], "lr": 0.01},
    {"params": net.head.parameters(), "weight_decay": 0.5},
], lr=0.1, betas=(0.8, 0.99))
for step in range(3):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    )
    assert not done.parameter("net.first.bias").trainable and done.parameter("net.free.bias").trainable
    assert done.parameter("net.second.weight").tied_to == "net.first.weight"
    assert done.parameter("net.first.weight").tied_to is None
    held = {p.name: (p.optimizer, p.group) for p in done.trace.parameters}
    assert held["net.first.weight"] == held["net.second.bias"] == ("optimizer", 0)
    assert held["net.head.weight"] == ("optimizer", 1)
    assert held["net.free.weight"] == held["net.free.bias"] == (None, None)
    (optimizer,) = done.trace.optimizers
    assert optimizer.kind == "AdamW" and len(optimizer.groups) == 2
    assert optimizer.groups[0].settings["lr"] == 0.01 and optimizer.groups[1].settings["lr"] == 0.1
    assert optimizer.groups[1].settings["weight_decay"] == 0.5
    assert tuple(optimizer.groups[0].settings["betas"]) == (0.8, 0.99)
    assert optimizer.groups[0].parameters == ("net.first.weight", "net.second.bias")
    assert done.trace.models[0].trainable == sum(
        p.numel() for p in done.variables["net"].parameters() if p.requires_grad
    )


def test_parameters_without_optimizer_that_receive_gradients_are_seen(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net[2].parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    )
    assert done.parameter("net.0.weight").optimizer is None
    assert done.trace.series("gradient", "net.0.weight", "rms")[1].tolist()


def test_layers_in_a_plain_list_are_seen_as_not_registered(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(4, 8), nn.Linear(8, 8)]  # <- hidden
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x).relu()
        return self.out(x)

net = Net()
"""
        + TRAIN,
    )
    strays = [m for m in done.trace.all(ModuleFact) if not m.registered]
    assert [m.kind for m in strays] == ["Linear", "Linear"]
    assert [m.settings["in_features"] for m in strays] == [4, 8]
    assert all(done.at("hidden", m.created) for m in strays)
    stray_parameters = [p for p in done.trace.parameters if p.module in {m.name for m in strays}]
    assert len(stray_parameters) == 4
    assert all(p.optimizer is None and p.trainable for p in stray_parameters)


def test_shared_modules_count_their_calls(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Linear(4, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.block(self.block(self.block(x)).relu()))

net = Net()
"""
        + TRAIN,
    )
    assert done.module("net.block").calls == 3 and done.module("net.head").calls == 1


def test_modules_that_return_tuples_and_containers(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 5)
        self.rnn = nn.LSTM(5, 6, batch_first=True)
        self.attend = nn.MultiheadAttention(6, 2, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(6, 3) for _ in range(2)])

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        mixed, _ = self.attend(states, states, states)
        return {"a": self.heads[0](mixed[:, -1]), "b": self.heads[1](mixed[:, 0])}

net = Net()
x, y = torch.randint(7, (6, 4)), torch.arange(6) % 3
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    optimizer.zero_grad()
    out = net(x)
    (F.cross_entropy(out["a"], y) + F.cross_entropy(out["b"], y)).backward()
    optimizer.step()
""",
    )
    assert done.module("net.rnn").output_shapes == ((6, 4, 6), (1, 6, 6), (1, 6, 6))
    assert done.module("net.rnn").settings["hidden_size"] == 6
    assert done.trace.models[0].output_shapes == ((6, 3), (6, 3))
    assert done.module("net.heads.1").order is not None
    for layer in ("net.embed", "net.rnn", "net.attend", "net.heads.0"):
        assert len(done.trace.table("activation", layer)) == 3


def test_a_model_that_changes_is_recorded_anew(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
for p in net[0].parameters():
    p.requires_grad_(False)
"""
        + TRAIN
        + """
for p in net[0].parameters():
    p.requires_grad_(True)
net.append(nn.Linear(3, 3))
optimizer.add_param_group({"params": net[3].parameters()})
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
""",
    )
    changed = [e for e in done.trace.events if e.kind == "model changed"]
    assert changed and changed[0].step == 3 and changed[0].component == "net"
    assert done.parameter("net.0.weight").trainable
    assert done.parameter("net.3.weight").optimizer == "optimizer"
    fact = done.trace.get(OptimizerFact, "optimizer")
    assert fact is not None and [len(g.parameters) for g in fact.groups] == [4, 2]


def test_initial_statistics_of_a_constant_have_no_spread(tmp_path: Path) -> None:
    model = "net = nn.Sequential(nn.Linear(4, 333), nn.LayerNorm(333), nn.Linear(333, 3))\n"
    done = record(tmp_path, DATA + model + "nn.init.constant_(net[0].weight, 0.1)\n" + TRAIN)
    assert done.parameter("net.1.weight").initial.std == 0.0
    assert done.parameter("net.0.weight").initial.std == pytest.approx(0.0, abs=1e-6)


def test_names_follow_the_users_attributes(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        DATA
        + """
class Trainer:
    def __init__(self):
        self.encoder = nn.Linear(4, 3)
        self.rule = torch.optim.SGD(self.encoder.parameters(), lr=0.1)

    def fit(self):
        for step in range(3):
            self.rule.zero_grad()
            F.cross_entropy(self.encoder(x), y).backward()
            self.rule.step()

Trainer().fit()
""",
    )
    assert [m.name for m in done.trace.models] == ["self.encoder"]
    assert [o.name for o in done.trace.optimizers] == ["self.rule"]
    assert [p.name for p in done.trace.parameters] == ["self.encoder.weight", "self.encoder.bias"]
    assert torch.is_grad_enabled()
