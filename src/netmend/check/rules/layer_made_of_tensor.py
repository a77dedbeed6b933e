from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Param, Value, resolved
from netmend.program.meaning.modules import forward_around
from netmend.program.meaning.operations import ACTIVATIONS, operation
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
"""
_NO_OPTIONS = frozenset(("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "GELU", "Sigmoid", "Tanh", "Softplus", "Hardswish", "LogSigmoid", "ELU", "LeakyReLU"))  # fmt: skip
_OTHERS = frozenset(
    ("Softmax", "LogSoftmax", "Dropout", "Dropout2d", "MaxPool1d", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "Flatten", "BatchNorm1d", "BatchNorm2d",
     "LayerNorm", "Identity")
)  # fmt: skip
_GIVE_TENSORS = frozenset(
    f"torch.nn.{name}"
    for name in (
        *_NO_OPTIONS,
        *_OTHERS,
        "Linear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose2d",
        "Embedding",
    )
)
_WORDS = "|".join(sorted(_NO_OPTIONS | _OTHERS))
_NAMES = tuple(f"torch.nn.{name}" for name in sorted(_NO_OPTIONS | _OTHERS))


@register
class LayerMadeOfTensor(StaticRule):
    """A layer is made with the tensor as its option, instead of being called with it: `nn.ReLU(x)`.

    `nn.ReLU` is a class: `nn.ReLU(x)` makes a layer (and takes x for `inplace`), it computes nothing. The next line gets a layer where
    a tensor is expected and stops.

    Write `nn.ReLU()(x)` or `F.relu(x)`.
    """

    code = "S328"
    cause = "API-USAGE"
    message = "nn.{name}(x) creates a layer and computes nothing; write nn.{name}(…)(x) or use the function."
    triggers = tuple(f"{name}(" for name in sorted(_NO_OPTIONS | _OTHERS))
    patterns = (
        rf"^[ \t]+\w+ = (?:[\w.]*nn\.)?(?:{_WORDS})\(\s*[a-z_]\w*\s*[,)]",
        rf"return (?:[\w.]*nn\.)?(?:{_WORDS})\(",
    )

    GOOD = (
        Snippet("made, then called", NET + "        return nn.ReLU()(self.fc(x))\n"),
        Snippet("option is a flag", "from torch import nn\n\ndef make(inplace):\n    return nn.ReLU(inplace)\n"),
        Snippet("size from the data", NET + "        norm = nn.LayerNorm(x.shape[1:])\n        return norm(self.fc(x))\n"),
        Snippet("function", NET + "        return torch.relu(self.fc(x))\n"),
        Snippet("a size as option", NET + "        size = x.size(1)\n        return nn.LayerNorm(size)(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("activation", NET + "        return nn.ReLU(self.fc(x))\n", line=10, fixed=NET + "        return nn.ReLU()(self.fc(x))\n"),
        Snippet("softmax of the output", NET + "        x = torch.relu(self.fc(x))\n        return nn.Softmax(x)\n", line=11),
        Snippet("outside of a module", "import torch\nimport torch.nn as nn\n\nnet = nn.Linear(4, 3)\n\ndef predict(x):\n    return nn.Sigmoid(net(x))\n", line=7,
                fixed="import torch\nimport torch.nn as nn\n\nnet = nn.Linear(4, 3)\n\ndef predict(x):\n    return nn.Sigmoid()(net(x))\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(*_NAMES):
            call = event.call
            if (
                call is None
                or call.node is None
                or len(call.args) != 1
                or not _is_tensor(call.args[0], event)
            ):
                continue
            name = call.qualified.rpartition(".")[2]
            yield self.finding(
                program, call.node, self.message.format(name=name), fix=_fix(program, call, name)
            )


def _is_tensor(value: Value, event: Event) -> bool:
    """The result of a layer, or what `forward` was given."""
    value = resolved(value)
    op = operation(value)
    if op is not None:
        return op.name in ACTIVATIONS if op.layer is None else op.layer.qualified in _GIVE_TENSORS
    body = forward_around(event)
    if not isinstance(value, Param) or body is None or value.default is not None:
        return False
    given = body.function.definition.args.args
    return value.node is not None and any(value.node is parameter for parameter in given[1:2])


def _fix(program: Program, call: Call, name: str) -> Fix | None:
    node = call.node
    if name not in _NO_OPTIONS or node is None or len(node.args) != 1 or node.keywords:
        return None
    edits = replace(program, node, f"{program.source(node.func)}()({program.source(node.args[0])})")
    return Fix("Call the layer with it", edits, "safe") if edits else None
