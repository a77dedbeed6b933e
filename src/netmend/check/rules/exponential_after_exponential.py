from __future__ import annotations

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Either, Element, Unknown, Value, resolved
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, layer_name, operation, origins
from netmend.program.meaning.uses import operations

HEAD = f"""{TORCH}{NET_CLASS}\
        self.a, self.b, self.c = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
"""
_THROUGH = LAYOUT | LINEAR_MAPS | {"dropout"}


class ExponentialAfterExponential(StaticRule, code="S342", cause="ACT-HID-WRONG"):
    """`exp` is used as the activation of layers that follow each other.

    The output of one exponential goes through a layer into the next: exp(exp(x)) passes every limit of float32 for inputs of about
    five. Losses become infinite or NaN at the first unlucky batch.

    Use ReLU, GELU or tanh between layers; keep `exp` for a final positive output, on a bounded input.
    """

    message = "exp() of a layer fed by another exp() overflows; use ReLU or tanh between layers."
    triggers = ("exp(", "torch.exp")
    needs = "Module"
    patterns = (r"exp\((?:self\.)?\w+\(", r"return (?:torch\.exp\(\w+\)|\w+\.exp\(\))")

    GOOD = (
        Snippet("once, at the end", HEAD + "        return torch.exp(self.c(torch.relu(self.a(x))))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("functions", HEAD + "        x = torch.exp(self.a(x))\n        x = torch.exp(self.b(x))\n        return self.c(x)\n", line=12),
        Snippet("a module as activation", "import torch\nfrom torch import nn\n\nclass Exp(nn.Module):\n    def forward(self, x):\n        return x.exp()\n\n"
                "net = nn.Sequential(nn.Linear(3, 8), Exp(), nn.Linear(8, 8), Exp(), nn.Linear(8, 1))\nprint(net(torch.rand(2, 3)))\n", line=6),
        Snippet("in a loop", HEAD + "        for layer in (self.a, self.b):\n            x = torch.exp(layer(x))\n        return self.c(x)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for op, event in operations(program, "exp"):
            if op.input is None:
                continue
            if _follows(op.input) or _in_loop_over_layers(event, op.input):
                yield self.finding(program, event.node)


def _follows(value: Value) -> bool:
    """Does the input come from a layer that gets the output of an exponential, on every path?"""
    layers = [operation(origin) for origin in origins(value)]
    if not layers or not all(op is not None and op.name in LINEAR_MAPS for op in layers):
        return False
    before = [operation(origin) for op in layers if op is not None for origin in origins(op.input, _THROUGH)]
    return bool(before) and all(op is not None and op.name == "exp" for op in before)


def _in_loop_over_layers(event: Event, value: Value) -> bool:
    """`for layer in layers: x = exp(layer(x))` with two linear layers at least."""
    value = resolved(value)
    element = resolved(value.function) if isinstance(value, Call) else None
    if not isinstance(value, Call) or not isinstance(element, Element) or not value.args:
        return False
    layers = _layers(resolved(element.iterable))
    if len(layers) < 2 or not all(layer_name(layer) in LINEAR_MAPS for layer in layers):
        return False
    given = resolved(value.args[0])
    loop = event.loop
    is_carried = isinstance(given, Either) and any(isinstance(option, Unknown) for option in given.options)
    return is_carried and loop is not None and any(isinstance(part, Body) for part in loop.around())


def _layers(value: Value) -> list[Value]:
    if isinstance(value, Call) and layer_name(value) == "modulelist" and value.args:
        value = resolved(value.args[0])
    if isinstance(value, Call) and layer_name(value) == "sequential":
        return container_layers(None, value) or []
    if isinstance(value, Collection) and (not value.open or value.repeated):
        return list(value.items) * (2 if value.repeated else 1)
    return []
