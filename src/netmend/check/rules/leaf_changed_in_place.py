from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import AUGMENT, STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Either, Element, Unknown, Value, constant, resolved
from netmend.program.meaning.operations import layer_name, walk
from netmend.program.meaning.sizes import setting
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nw = torch.randn(3, requires_grad=True)\nlr = 0.1\n"
LOOP = "for x, y in data:\n    loss = ((x @ w - y) ** 2).mean()\n    loss.backward()\n"
_IN_PLACE = (
    "add_", "sub_", "mul_", "div_", "copy_", "fill_", "zero_", "clamp_", "normal_", "uniform_", "addcmul_", "addcdiv_", "clip_",
)  # fmt: skip


@register
class LeafChangedInPlace(StaticRule):
    """A tensor or parameter that wants gradients is changed in place while gradients are recorded.

    PyTorch refuses: "a leaf Variable that requires grad is being used in an in-place operation". Written as `w = w - lr * w.grad` it
    runs, but `w` is then no leaf any more and its next `grad` is None.

    Change weights under `with torch.no_grad():`, or use an optimiser.
    """

    code = "S316"
    cause = "API-USAGE"
    message = "A tensor that requires gradients is changed in place here; do it under torch.no_grad()."
    triggers = (
        "requires_grad",
        ".backward(",
        "Parameter(",
        "weight.fill_(",
        "weight.zero_(",
        "weight.copy_(",
        "weight.normal_(",
    )
    patterns = (
        r"requires_grad\s*=\s*True",
        r"\.backward\(",
    )

    GOOD = (
        Snippet("under no_grad", HEAD + LOOP + "    with torch.no_grad():\n        w -= lr * w.grad\n    w.grad = None\n"),
        Snippet("its data", HEAD + LOOP + "    w.data -= lr * w.grad.data\n    w.grad.zero_()\n"),
        Snippet("no gradients wanted", "import torch\n\nw = torch.randn(3)\nw += 1\nw.clamp_(0, 1)\n"),
        Snippet("decorated", HEAD + "@torch.no_grad()\ndef update():\n    w.sub_(lr * w.grad)\n\n" + LOOP + "    update()\n"),
        Snippet("a result", HEAD + "y = w * 2\ny += 1\n"),
        Snippet("parameters under no_grad", HEAD + "net = nn.Linear(2, 1)\nnet(x).sum().backward()\nwith torch.no_grad():\n    for p in net.parameters():\n        p -= lr * p.grad\n"),
        Snippet("the caller may have switched it off", "def update(params, lr):\n    for p in params:\n        p -= lr * p.grad\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a step by hand", HEAD + LOOP + "    w -= lr * w.grad\n    w.grad.zero_()\n", line=9),
        Snippet("parameters of a model", "import torch\nfrom torch import nn\n\ndef train(model, data, lr):\n    for x, y in data:\n        ((model(x) - y) ** 2).mean().backward()\n"
                "        for p in model.parameters():\n            p.sub_(lr * p.grad)\n        model.zero_grad()\n", line=8),
        Snippet("a part of it", "import torch\n\nw = torch.zeros(3, requires_grad=True)\nw[0] = 1.0\n(w * 2).sum().backward()\n", line=4),
        Snippet("weights of a layer", "import torch\n\nlayer = torch.nn.Linear(3, 1)\nlayer.weight.fill_(0.5)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if program.calls_of("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
            return
        entries = {
            id(program.entry_of(event).block) for event in backward_calls(program) if not grad_is_off(event)
        }
        for event in program.events:
            changed = _changed(event)
            if changed is None or not _is_leaf(changed) or grad_is_off(event):
                continue
            entry = program.entry_of(event)
            is_by_gradient = any(
                isinstance(part, Attribute) and part.name == "grad" for part in walk(_change(event))
            )
            if entry.kind == "file" or (id(entry.block) in entries and is_by_gradient):
                yield self.finding(program, event.node)


def _changed(event: Event) -> Value | None:
    """The tensor that an event changes in place."""
    call = event.call
    if call is not None:
        return call.receiver if call.method in _IN_PLACE else None
    if event.target is None:
        return None
    if event.kind == AUGMENT:
        return (
            event.target.old
            if isinstance(event.node, ast.AugAssign) and event.target.key is None
            else event.target.base
        )
    if event.kind == STORE and event.target.key is not None:
        return event.target.base
    return None


def _change(event: Event) -> Value | None:
    call = event.call
    return event.value if call is None else (call.args[0] if call.args else None)


def _is_leaf(value: Value) -> bool:
    """A tensor made with `requires_grad=True`, a parameter, a layer's weight, or one of `model.parameters()`."""
    if isinstance(value, Either):  # a loop: the value before it, and what the round before left
        rest = [option for option in value.options if not isinstance(option, Unknown)]
        loops = [option for option in value.options if isinstance(option, Unknown)]
        in_loop = all(isinstance(option.node, ast.For | ast.While) for option in loops)
        return len(rest) == 1 and in_loop and _is_leaf(rest[0])
    if isinstance(value, Call) and value.result is None:
        name = value.qualified
        if name == "torch.nn.Parameter":
            return setting(value.argument("requires_grad", 1), True) is True
        is_made = name.startswith("torch.") and name.count(".") == 1 and name.rpartition(".")[2][:1].islower()
        return is_made and constant(value.keywords.get("requires_grad")) is True
    if isinstance(value, Attribute) and value.name in ("weight", "bias"):
        layer = resolved(value.base)
        return layer_name(layer) in ("linear", "conv1d", "conv2d", "conv3d", "embedding")
    if isinstance(value, Element):
        source = resolved(value.iterable)
        return isinstance(source, Call) and source.method == "parameters"
    return False
