"""Facts about models: module tree, hyperparameters, functional activations, parameters."""

from __future__ import annotations

import pytest
from recording import Recorded, record

from netmend.vocabulary import FunctionFact, ModuleFact

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
DATA = "x, y = torch.randn(12, 4), torch.arange(12) % 3\n"


@pytest.fixture(scope="module")
def conv(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(
        tmp_path_factory.mktemp("conv"),
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(4, eps=1e-3),
            nn.LeakyReLU(0.2),
        )
        self.drop = nn.Dropout(0.3)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        x = self.features(x)
        x = F.relu(x)  # <- relu
        x = torch.sigmoid(x)  # <- sigmoid
        x = F.dropout(x.flatten(1), 0.5, self.training)  # <- dropout
        return self.head(self.drop(x)).log_softmax(dim=1)  # <- softmax

net = Net()
initial = {name: p.detach().clone() for name, p in net.named_parameters()}
x, y = torch.randn(6, 1, 4, 4), torch.arange(6) % 3
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    optimizer.zero_grad()
    F.nll_loss(net(x), y).backward()
    optimizer.step()
""",
    )


def test_the_model_counts_its_parameters_and_knows_its_shapes(conv: Recorded) -> None:
    (model,) = conv.trace.models
    assert (model.name, model.kind, model.device, model.dtype) == ("net", "Net", "cpu", "float32")
    size = sum(p.numel() for p in conv.variables["initial"].values())
    assert (model.parameters, model.trainable) == (size, size)
    assert (model.input_shapes, model.output_shapes) == (((6, 1, 4, 4),), ((6, 3),))
    assert not model.compiled and model.wrapper is None


def test_the_module_tree_has_every_module_in_order_of_execution(conv: Recorded) -> None:
    assert set(conv.trace.models[0].modules) == {m.name for m in conv.trace.all(ModuleFact)}
    executed = [m.name for m in conv.trace.layers() if m.order is not None]
    assert executed == ["net.features.0", "net.features.1", "net.features.2", "net.drop", "net.head"]
    assert not conv.module("net.features").leaf and conv.module("net.features").calls == 1
    unused = conv.module("net.unused")
    assert unused.order is None and unused.calls == 0


def test_modules_keep_their_hyperparameters_and_shapes(conv: Recorded) -> None:
    layer = conv.module("net.features.0")
    assert layer.kind == "Conv2d"
    assert layer.settings["in_channels"] == 1 and layer.settings["out_channels"] == 4
    assert [list(layer.settings[k]) for k in ("kernel_size", "stride", "padding")] == [[3, 3], [2, 2], [1, 1]]
    assert layer.settings["bias"] is False
    assert (layer.input_shapes, layer.output_shapes) == (((6, 1, 4, 4),), ((6, 4, 2, 2),))
    assert conv.module("net.features.1").settings["eps"] == 1e-3
    assert conv.module("net.features.2").settings["negative_slope"] == 0.2
    assert conv.module("net.features.2").activation == "leaky_relu"
    assert conv.module("net.drop").settings["p"] == 0.3
    assert conv.module("net.head").activation is None


@pytest.mark.parametrize(
    ("mark", "function", "kind"),
    [
        ("relu", "relu", "activation"),
        ("sigmoid", "sigmoid", "activation"),
        ("dropout", "dropout", "dropout"),
        ("softmax", "log_softmax", "activation"),
    ],
)
def test_functional_operations_are_facts_with_their_line(
    conv: Recorded, mark: str, function: str, kind: str
) -> None:
    (fact,) = [f for f in conv.trace.all(FunctionFact) if f.function == function]
    assert fact.kind == kind and fact.model == "net" and fact.inside == "net"
    assert conv.at(mark, fact.site)


def test_functional_operations_know_what_they_follow(conv: Recorded) -> None:
    after = {f.function: f.after for f in conv.trace.all(FunctionFact)}
    assert after["relu"] == "net.features.2"
    assert after["log_softmax"] == "net.head"
    shapes = {f.function: f.output_shape for f in conv.trace.all(FunctionFact)}
    assert shapes["relu"] == (6, 4, 2, 2) and shapes["log_softmax"] == (6, 3)


def test_initial_statistics_are_those_before_the_first_step(conv: Recorded) -> None:
    for name, value in conv.variables["initial"].items():
        fact = conv.parameter(f"net.{name}")
        assert fact.shape == tuple(value.shape) and fact.dtype == "float32" and fact.device == "cpu"
        assert fact.initial.mean == pytest.approx(float(value.mean()), abs=1e-6)
        assert fact.initial.std == pytest.approx(float(value.std(correction=0)), abs=1e-4)
        assert fact.initial.rms == pytest.approx(float(value.square().mean().sqrt()), rel=1e-5)
        assert fact.initial.minimum == float(value.min()) and fact.initial.maximum == float(value.max())
        assert fact.initial.zero_share == float((value == 0).float().mean())
        assert fact.initial.nonfinite == 0
