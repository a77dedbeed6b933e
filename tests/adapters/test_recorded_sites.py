"""Sites: everything the trace names has the user's own line, and on Python 3.11 the columns of the call."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recording import Recorded, record

from netmend.vocabulary import Call, FunctionFact, LossFact, SchedulerFact, Site

PROGRAM = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)  # <- inner

    def forward(self, x):
        return torch.tanh(self.inner(x))  # <- tanh


class Residual(Block):
    def __init__(self, width):
        super().__init__(width)
        self.scale = nn.LayerNorm(width)  # <- scale

    def forward(self, x):
        return x + self.scale(super().forward(x))  # <- residual


def make_head():
    return nn.Linear(
        8,
        3,
    )


net = nn.Sequential(
    nn.Linear(4, 8),  # <- first
    nn.ReLU(),  # <- relu
    nn.Sequential(
        nn.Linear(8, 8), nn.Sigmoid(),  # <- nested
    ),
    Residual(8),  # <- block
    make_head(),
)
x, y = torch.randn(12, 4), torch.arange(12) % 3
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=6)  # <- loader
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)  # <- optimizer
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)  # <- scheduler
rule = nn.CrossEntropyLoss()  # <- rule


def train():
    net.train()  # <- train
    for inputs, labels in loader:  # <- epoch
        optimizer.zero_grad()  # <- zero_grad
        outputs = net(inputs)  # <- forward
        loss = rule(outputs, labels)  # <- loss
        loss.backward()  # <- backward
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- clip
        optimizer.step()  # <- step
    scheduler.step()  # <- decay


for epoch in range(2):
    train()
net.eval()  # <- eval
with torch.no_grad():
    rule(net(x), y)  # <- check
train()
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("sites"), PROGRAM)


@pytest.mark.parametrize(
    ("module", "mark", "text"),
    [
        ("net.0", "first", "nn.Linear(4, 8)"),
        ("net.1", "relu", "nn.ReLU()"),
        ("net.2.0", "nested", "nn.Linear(8, 8)"),
        ("net.2.1", "nested", "nn.Sigmoid()"),
        ("net.3", "block", "Residual(8)"),
        ("net.3.inner", "inner", "nn.Linear(width, width)"),
        ("net.3.scale", "scale", "nn.LayerNorm(width)"),
    ],
)
def test_modules_have_the_line_that_creates_them(done: Recorded, module: str, mark: str, text: str) -> None:
    site = done.module(module).created
    assert done.at(mark, site)
    if sys.version_info >= (3, 11):
        assert site is not None and done.text(site) == text


def test_calls_over_several_lines_span_them(done: Recorded) -> None:
    site = done.module("net.4").created
    assert site is not None and site.function == "make_head"
    assert done.source.splitlines()[site.line - 1].strip().startswith("return nn.Linear(")
    container = done.module("net").created
    assert container is not None
    assert done.source.splitlines()[container.line - 1].startswith("net = nn.Sequential(")
    if sys.version_info >= (3, 11):
        assert done.text(site).startswith("nn.Linear(") and done.text(site).endswith(")")
        assert site.end_line == site.line + 3
        assert container.end_line is not None and container.end_line > done.line("block")


def test_modules_have_the_line_that_calls_them(done: Recorded) -> None:
    assert done.at("tanh", done.module("net.3.inner").called)
    assert done.at("residual", done.module("net.3.scale").called)
    assert done.at("forward", done.trace.models[0].called)


def test_facts_have_the_lines_that_create_and_use_them(done: Recorded) -> None:
    (optimizer,) = done.trace.optimizers
    (scheduler,) = done.trace.all(SchedulerFact)
    (loader,) = done.trace.loaders
    assert done.at("optimizer", optimizer.created) and done.at("step", optimizer.stepped)
    assert done.at("scheduler", scheduler.created) and done.at("decay", scheduler.stepped)
    assert done.at("loader", loader.created) and done.at("epoch", loader.iterated)
    training = next(f for f in done.trace.all(LossFact) if f.backward is not None)
    assert done.at("rule", training.created) and done.at("loss", training.called)
    assert done.at("backward", training.backward)
    (tanh,) = [f for f in done.trace.all(FunctionFact) if f.function == "tanh"]
    assert done.at("tanh", tanh.site) and tanh.inside == "net.3"
    if sys.version_info >= (3, 11):
        assert optimizer.created is not None
        assert done.text(optimizer.created) == "torch.optim.Adam(net.parameters(), lr=0.01)"
        assert tanh.site is not None and done.text(tanh.site) == "torch.tanh(self.inner(x))"


@pytest.mark.parametrize("what", ["zero_grad", "forward", "loss", "backward", "clip", "step"])
def test_calls_of_the_loop_have_their_line(done: Recorded, what: str) -> None:
    for step in (0, 1, 2):
        sites = {call.site for call in done.calls_of(step) if call.what == what}
        assert len(sites) == 1 and done.at(what, sites.pop())


def test_rarer_calls_of_the_loop_have_their_line(done: Recorded) -> None:
    first, after_epoch, last = done.calls_of(0), done.calls_of(2), done.calls_of(4)

    def site(calls: tuple[Call, ...], what: str, detail: str = "") -> Site | None:
        return next(call.site for call in calls if call.what == what and detail in call.detail)

    assert done.at("train", site(first, "train")) and done.at("epoch", site(first, "epoch"))
    assert done.at("decay", site(after_epoch, "scheduler"))
    assert done.at("eval", site(last, "eval"))
    assert done.at("check", site(last, "forward", "no_grad"))
    assert done.at("check", site(last, "loss", "no_grad"))


def test_models_made_before_watching_have_lines_from_their_source(tmp_path: Path) -> None:
    import importlib.util

    import torch

    import netmend
    from netmend.vocabulary import ModuleFact

    file = tmp_path / "nets.py"
    file.write_text(
        "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.hidden = nn.Linear(4, 8)\n        self.out = nn.Linear(8, 1)\n\n"
        "    def forward(self, x):\n        return self.out(self.hidden(x).relu())\n"
    )
    spec = importlib.util.spec_from_file_location("netmend_test_nets", file)
    assert spec is not None and spec.loader is not None
    nets = importlib.util.module_from_spec(spec)
    sys.modules["netmend_test_nets"] = nets
    spec.loader.exec_module(nets)
    try:
        net = nets.Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        watch = netmend.watch(net, optimizer, directory=tmp_path, quiet=True, every=1)
        with watch:
            for _ in range(2):
                optimizer.zero_grad()
                net(torch.ones(3, 4)).sum().backward()
                optimizer.step()
    finally:
        del sys.modules["netmend_test_nets"]
    created = {m.name: m.created for m in watch.trace.all(ModuleFact)}
    assert created["net.hidden"] is not None and created["net.out"] is not None
    assert (created["net.hidden"].file, created["net.hidden"].line) == (str(file), 6)
    assert (created["net.out"].line, created["net.out"].column) == (7, 19)


def test_columns_stay_right_after_other_characters_than_ascii(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
größe = 4; net = nn.Linear(größe, 3)  # <- net
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(net(torch.ones(2, 4)), torch.tensor([0, 1])).backward()
    optimizer.step()
""",
    )
    site = done.module("net").created
    assert done.at("net", site)
    if sys.version_info >= (3, 11):
        assert site is not None and site.column is not None
        text = done.source.splitlines()[site.line - 1]
        assert text.encode()[site.column : site.end_column].decode() == "nn.Linear(größe, 3)"
