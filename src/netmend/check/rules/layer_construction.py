"""Layers and containers that are made in a way that does not do what it looks like."""

from __future__ import annotations

import ast

from netmend.check.examples import net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Element,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import forward_around, is_module, learns
from netmend.program.meaning.operations import ACTIVATIONS, operation
from netmend.program.meaning.sizes import LITERAL_LAYERS
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = "import torch\nfrom torch import nn\n\n"
_HOLDERS = ("torch.nn.ModuleList", "torch.nn.Sequential")


class LayerRepeatedByMultiplication(StaticRule, code="S326", cause="ARC-STRUCT-SUBOPT"):
    """A list with one layer is multiplied: `[nn.Linear(8, 8)] * 3`.

    That makes one layer and three references to it: all "copies" share their weights, so the network is as deep as written but has the
    parameters of a single layer.

    Make each of them: `[nn.Linear(8, 8) for _ in range(3)]`. If sharing is meant, call the one layer several times.
    """

    message = "Every entry of this list is the same layer with shared weights; create a new one each time: [… for _ in range(n)]."
    triggers = ("] *", "]*", "* [", "*[")
    patterns = (
        r"\[[^\]\n]*(?:nn\.|ayer|Linear|lock|Conv)[^\]\n]*\]\s*\*|\*\s*\[[^\]\n]*(?:nn\.|ayer|Linear|lock|Conv)",
    )

    GOOD = (
        Snippet("made one by one", HEAD + "net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])\n"),
        Snippet("nothing to learn", HEAD + "acts = nn.ModuleList([nn.ReLU()] * 3)\n"),
    )  # fmt: skip
    BAD = (
        mended("in a Sequential", HEAD + "- net = nn.Sequential(*[nn.Linear(8, 8)] * 3)\n+ net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])\n"),
        mended("in a ModuleList", HEAD + "class Net(nn.Module):\n    def __init__(self, depth):\n        super().__init__()\n"
                "        - self.layers = nn.ModuleList([nn.Conv2d(8, 8, 3)] * depth)\n"
                "        + self.layers = nn.ModuleList([nn.Conv2d(8, 8, 3) for _ in range(depth)])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*_HOLDERS):
            for value in event.call.args:
                value = resolved(value.iterable) if isinstance(value, Element) else resolved(value)
                repeated = _repeated(value)
                if repeated is not None:
                    yield self.finding(program, value.node, fix=_repeat_in_comprehension(program, value.node))


def _repeated(value: Value) -> Value | None:
    """The layer in `[layer] * n`, made right there."""
    if not isinstance(value, Operation) or value.operator != "*":
        return None
    for part, times in (value.operands, value.operands[::-1]):
        listed = resolved(part)
        if isinstance(listed, Collection) and listed.kind == "list" and len(listed.items) == 1:
            if constant(times, 2) == 1 or not learns(listed.items[0]):
                return None
            made = listed.node.elts[0] if isinstance(listed.node, ast.List) and listed.node.elts else None
            return listed.items[0] if isinstance(made, ast.Call) else None
    return None


def _repeat_in_comprehension(program: Program, node: ast.AST | None) -> Fix | None:
    if not isinstance(node, ast.BinOp) or program.module_of(node) is not program.module:
        return None
    listed, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
    if not isinstance(listed, ast.List):
        return None
    edits = replace(
        program, node, f"[{program.source(listed.elts[0])} for _ in range({program.source(times)})]"
    )
    return Fix("Create a layer for each entry", edits, "unsafe")


CONTAINER_NET = net("layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])")


class ContainerMisused(StaticRule, code="S327", cause="API-USAGE"):
    """A `ModuleList` is called like a layer, or `Sequential` is given a list.

    `nn.ModuleList` and `nn.ModuleDict` only hold layers, they cannot be called. `nn.Sequential` takes the layers one by one; a list
    stops with "list is not a Module subclass".

    Loop over the list, or use `nn.Sequential(*layers)`.
    """

    message = "nn.Sequential takes layers one by one, not a list; write nn.Sequential(*layers)."
    triggers = ("ModuleList", "ModuleDict", "Sequential(")
    patterns = (r"Sequential\(\s*(?:\[|\w+\s*\))", LITERAL_LAYERS)

    GOOD = (
        Snippet("looped over", CONTAINER_NET + "        for layer in self.layers:\n            x = layer(x)\n        return x\n"),
        Snippet("named layers", HEAD + "from collections import OrderedDict\nnet = nn.Sequential(OrderedDict([('fc', nn.Linear(4, 4))]))\n"),
    )  # fmt: skip
    BAD = (
        mended("list given", HEAD + "net = nn.Sequential(⟨ → *⟩[nn.Linear(4, 4), nn.ReLU()])\n"),
        mended("list built before", HEAD + "def make(n):\n    layers = []\n    for _ in range(n):\n        layers.append(nn.Linear(4, 4))\n"
                "    return nn.Sequential(⟨ → *⟩layers)\n"),
        Snippet("list of layers called", CONTAINER_NET + "        return self.layers(x)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            if call.qualified == "torch.nn.Sequential":
                if len(call.args) == 1 and not call.open and _is_list(call):
                    yield self.finding(program, call.node, fix=_unpack_list(program, call))
                continue
            made = resolved(call.function)
            if isinstance(made, Call) and made.qualified in ("torch.nn.ModuleList", "torch.nn.ModuleDict"):
                name = made.qualified.rpartition(".")[2]
                text = (
                    f"nn.{name} only holds layers and cannot be called; loop over them, or use nn.Sequential."
                )
                yield self.finding(program, call.node, text)


def _is_list(call: Call) -> bool:
    given = resolved(call.args[0])
    return (
        isinstance(given, Collection)
        and given.kind in ("list", "tuple")
        and bool(given.items)
        and all(is_module(item) for item in given.items)
    )


def _unpack_list(program: Program, call: Call) -> Fix | None:
    node = call.node.args[0] if call.node is not None else None
    edits = replace(program, node, f"*{program.source(node)}") if node is not None else ()
    return Fix("Unpack the list", edits, "safe")


TENSOR_NET = net("fc = nn.Linear(4, 4)")
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


class LayerMadeOfTensor(StaticRule, code="S328", cause="API-USAGE"):
    """A layer is made with the tensor as its option, instead of being called with it: `nn.ReLU(x)`.

    `nn.ReLU` is a class: `nn.ReLU(x)` makes a layer (and takes x for `inplace`), it computes nothing. The next line gets a layer where
    a tensor is expected and stops.

    Write `nn.ReLU()(x)` or `F.relu(x)`.
    """

    message = "nn.{name}(x) creates a layer and computes nothing; write nn.{name}(…)(x) or use the function."
    triggers = tuple(f"{name}(" for name in sorted(_NO_OPTIONS | _OTHERS))
    patterns = (
        rf"^[ \t]+\w+ = (?:[\w.]*nn\.)?(?:{_WORDS})\(\s*[a-z_]\w*\s*[,)]",
        rf"return (?:[\w.]*nn\.)?(?:{_WORDS})\(",
    )

    GOOD = (
        Snippet("made, then called", TENSOR_NET + "        return nn.ReLU()(self.fc(x))\n"),
        Snippet("option is a flag", "from torch import nn\n\ndef make(inplace):\n    return nn.ReLU(inplace)\n"),
    )  # fmt: skip
    BAD = (
        mended("activation", TENSOR_NET + "        - return nn.ReLU(self.fc(x))\n        + return nn.ReLU()(self.fc(x))\n"),
        Snippet("softmax of the output", TENSOR_NET + "        x = torch.relu(self.fc(x))\n        return nn.Softmax(x)\n", line=11),
        mended("outside of a module", "import torch\nimport torch.nn as nn\n\nnet = nn.Linear(4, 3)\n\ndef predict(x):\n    - return nn.Sigmoid(net(x))\n"
                "    + return nn.Sigmoid()(net(x))\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(*_NAMES):
            call = event.call
            if len(call.args) != 1 or not _is_tensor(call.args[0], event):
                continue
            name = call.qualified.rpartition(".")[2]
            yield self.finding(
                program,
                call.node,
                self.message.format(name=name),
                fix=_call_after_making(program, call, name),
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


def _call_after_making(program: Program, call: Call, name: str) -> Fix | None:
    node = call.node
    if name not in _NO_OPTIONS or node is None or len(node.args) != 1 or node.keywords:
        return None
    edits = replace(program, node, f"{program.source(node.func)}()({program.source(node.args[0])})")
    return Fix("Call the layer with it", edits, "safe")
