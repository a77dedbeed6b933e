from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Item, Value, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders_of_models import drawn
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation, origins, walk
from netmend.program.meaning.pixels import reaches_raw
from netmend.program.meaning.training import rounds
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding, Related

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets

net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = datasets.MNIST("data", train=True)
"""
LOOP = """\
for x, y in DataLoader(TensorDataset(images, data.targets), batch_size=64, shuffle=True):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""


_CONVERSIONS = frozenset(("float", "to", "type", "astype", "tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor", "float32", "double"))  # fmt: skip


@register
class RawPixels(StaticRule):
    """Pixels from 0 to 255 go into the first layer as they are.

    Layers are initialised for inputs of size one. Inputs a hundred times larger saturate or kill the first layer, and the rate
    that would suit the others is far too high for it; training stalls or jumps.

    Divide by 255, or normalise with mean and standard deviation. A batch norm in front does it too.
    """

    code = "S519"
    cause = "PRE-MISS-NORM"
    message = "Pixels from 0 to 255 reach the first layer unscaled; divide them by 255 here."
    triggers = ("MNIST", "CIFAR", "SVHN", "load_data", "imread", "Image.open", "(0, 255", "(0, 256", "255)")
    patterns = (
        r"load_data\(",
        r"\.backward\(",
        r"imread\(",
    )

    GOOD = (
        Snippet("scaled", HEAD + "images = data.data.float() / 255\n" + LOOP),
        Snippet("scaled in the loop", HEAD + "images = data.data.float()\n" + LOOP.replace("net(x)", "net(x / 255)")),
        Snippet("normalised by a layer", HEAD + "net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10))\nimages = data.data.float()\n" + LOOP),
        Snippet("batch norm right behind", HEAD + "net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10), nn.BatchNorm1d(10))\nimages = data.data.float()\n" + LOOP),
        Snippet("looked up, not multiplied", HEAD + "net = nn.Sequential(nn.Flatten(), nn.Embedding(256, 8), nn.Flatten(), nn.Linear(6272, 10))\n"
                "images = data.data.long()\n" + LOOP),
        Snippet("not known", HEAD + "images = prepare(data.data)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("only converted", HEAD + "images = data.data.float()\n" + LOOP, line=9),
        Snippet("arrays of Keras", "import torch\nfrom tensorflow.keras.datasets import mnist\n(x_train, y_train), _ = mnist.load_data()\n"
                "x = torch.tensor(x_train, dtype=torch.float32).reshape(-1, 784)\ny = torch.tensor(y_train)\nclass Net(torch.nn.Module):\n"
                "    def __init__(self):\n        super().__init__()\n        self.fc = torch.nn.Linear(784, 10)\n\n    def forward(self, x):\n        return self.fc(x)\n\n"
                "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(0, 60000, 100):\n    opt.zero_grad()\n"
                "    torch.nn.functional.cross_entropy(net(x[i : i + 100]), y[i : i + 100]).backward()\n    opt.step()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for turn in rounds(program):
            for event in turn.backward:
                maps, rescued = _maps(loss_of(event))
                for op in maps:
                    if id(op.value) in rescued or id(op.node) in seen or op.input is None:
                        continue
                    if reaches_raw(program, op.input):
                        seen.add(id(op.node))
                        place = program.place(op.node)
                        layer = Related("They reach this layer.", place.file, place.line, place.column)
                        node = _conversion(program, op.input) or op.node
                        if id(node) not in seen:
                            seen.add(id(node))
                            yield self.finding(program, node, related=(layer,))


def _conversion(program: Program, value: Value) -> ast.AST | None:
    """Where the bytes are made into numbers to compute with: the division belongs there."""
    for _ in range(30):
        value = resolved(value)
        if isinstance(value, Call):
            name = value.method or value.qualified.rpartition(".")[2]
            if name in _CONVERSIONS and value.node is not None:
                return value.node
            inner = same_numbers(value)
            if inner is value:
                return None
            value = value.receiver if value.receiver is not None else value.args[0]
        elif isinstance(value, Item):
            value = drawn(program, value) or value.base
        else:
            return None
    return None


def _maps(loss: Value | None) -> tuple[list[Op], set[int]]:
    """Linear and convolutional layers that a loss is computed with, and those whose output is normalised at once."""
    maps: list[Op] = []
    rescued: set[int] = set()
    for value in walk(loss):
        op = operation(resolved(value))
        if op is None:
            continue
        if op.name in LINEAR_MAPS:
            maps.append(op)
        elif op.name.startswith(("batchnorm", "layernorm", "groupnorm", "instancenorm")):
            rescued.update(id(origin) for origin in origins(op.input))
    return maps, rescued
