"""Parameters that stop being leaves, or are changed behind autograd's back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.operations import COPIES, FLOATS, VIEWS
from netmend.program.engine.history import AUGMENT, STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import bodies, loads_of, module_classes
from netmend.program.meaning.operations import layer_name, walk
from netmend.program.meaning.optimisers import made_optimisers
from netmend.program.meaning.sizes import setting
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.vocabulary.finding import Edit, Fix

PARAMETER_HEAD = "import torch\nfrom torch import nn\n\nclass Scale(nn.Module):\n    def __init__(self, device='cuda'):\n        super().__init__()\n"
USE = "\n    def forward(self, x):\n        return x * self.weight\n"
_MOVES = frozenset(("to", "cuda"))
_CHANGES = frozenset(
    (*VIEWS, *FLOATS, *COPIES, "mul", "div", "add", "t", "expand", "repeat", "abs", "exp", "sqrt")
)


class ParameterMadeIntoTensor(StaticRule, code="S314", cause="ARC-INIT-MODEL"):
    """What is stored in a module is computed from an `nn.Parameter`, so it is none itself.

    `nn.Parameter(...).to(device)`, `.cuda()`, `.view(...)` or `* 0.1` give an ordinary tensor that depends on a parameter nobody keeps:
    `parameters()` does not list it and the optimiser never trains it (`.to` gives the parameter itself only where nothing has to move).

    Do it inside: `nn.Parameter(torch.randn(3, device=device) * 0.1)`; move the whole model with `model.to(device)`.
    """

    message = "The result is an ordinary tensor, not an nn.Parameter, and is not registered; do this inside nn.Parameter(…)."
    triggers = ("Parameter(",)
    patterns = (
        r"Parameter\([^\n]*\)\.(?:to|cuda|half|float|double)\(",
        r"Parameter\([^\n]*\)\s*[-*+/]",
        r"[-*+/] (?:[\w.]*nn\.)?Parameter\(",
    )

    GOOD = (
        Snippet("inside", PARAMETER_HEAD + "        self.weight = nn.Parameter(torch.randn(3, device=device) * 0.1)\n" + USE),
    )  # fmt: skip
    BAD = (
        mended("moved", PARAMETER_HEAD + "        - self.weight = nn.Parameter(torch.randn(3)).to(device)\n"
                "        + self.weight = nn.Parameter(torch.randn(3).to(device))\n" + USE),
        mended("moved to the card", PARAMETER_HEAD + "        - self.weight = nn.Parameter(torch.randn(3)).cuda()\n        + self.weight = nn.Parameter(torch.randn(3).cuda())\n" + USE),
        Snippet("scaled", PARAMETER_HEAD + "        self.weight = 0.1 * nn.Parameter(torch.randn(3))\n" + USE, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for cls in module_classes(program):
            for body in bodies(program, cls, "__init__")[:1]:
                for event in body.events():
                    target = event.target
                    if event.kind != STORE or target is None or target.base is None:
                        continue
                    if resolved(target.base) is not body.function.owner or not _is_computed(event.value):
                        continue
                    if loads_of(cls, target.name, outside="__init__"):
                        yield self.finding(program, event.node, fix=_fix(program, event.value))


def _is_computed(value: Value) -> bool:
    """Directly from `nn.Parameter(...)` that is written in the same expression."""
    if isinstance(value, Call) and value.receiver is not None:
        if value.method in _MOVES and _means_no_move(value):
            return False
        return value.method in _MOVES | _CHANGES and _is_parameter(value.receiver)
    if isinstance(value, Operation) and value.operator in ("*", "/", "+", "-", "neg"):
        return any(_is_parameter(operand) and _stands_in(operand, value) for operand in value.operands)
    return False


def _means_no_move(call: Call) -> bool:
    """`.to("cpu")`, `.to(torch.float32)` give the parameter itself."""
    given = call.args[0] if call.args else None
    return constant(given) == "cpu" or getattr(given, "qualified", "") == "torch.float32"


def _is_parameter(value: Value) -> bool:
    if not isinstance(value, Call):
        return False
    if value.qualified not in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return False
    return setting(value.argument("requires_grad", 1), True) is True


def _stands_in(part: Value, whole: Value) -> bool:
    """Is the parameter made inside the expression, not kept elsewhere?"""
    first, last = part.node, whole.node
    if first is None or last is None:
        return False
    line, end = getattr(last, "lineno", 0), getattr(last, "end_lineno", 0)
    return bool(line <= getattr(first, "lineno", -1) <= end)


def _fix(program: Program, value: Value) -> Fix | None:
    """`Parameter(x).to(device)` → `Parameter(x.to(device))`."""
    if not isinstance(value, Call) or value.method not in _MOVES or value.node is None:
        return None
    made = value.receiver.node if isinstance(value.receiver, Call) else None
    if made is None or len(made.args) != 1 or made.keywords:
        return None
    whole, inner, data = program.place(value.node), program.place(made), program.place(made.args[0])
    if whole.line != whole.end_line or whole.file != program.file:
        return None
    line = program.source(value.node)
    suffix = line[inner.end_column - whole.column :]
    given = program.source(made.args[0])
    text = f"{program.source(made.func)}({given}{suffix})"
    if not given.endswith(")") or data.line != data.end_line:
        return None
    edit = Edit(whole.line, whole.column, whole.end_line, whole.end_column, text)
    return Fix("Do it inside nn.Parameter", (edit,), "unsafe")


CHANGED_HEAD = "import torch\nfrom torch import nn\n\nw = torch.randn(3, requires_grad=True)\nlr = 0.1\n"
LOOP = "for x, y in data:\n    loss = ((x @ w - y) ** 2).mean()\n    loss.backward()\n"
_IN_PLACE = (
    "add_", "sub_", "mul_", "div_", "copy_", "fill_", "zero_", "clamp_", "normal_", "uniform_", "addcmul_", "addcdiv_", "clip_",
)  # fmt: skip


class LeafChangedInPlace(StaticRule, code="S316", cause="API-USAGE"):
    """A tensor or parameter that wants gradients is changed in place while gradients are recorded.

    PyTorch refuses: "a leaf Variable that requires grad is being used in an in-place operation". Written as `w = w - lr * w.grad` it
    runs, but `w` is then no leaf any more and its next `grad` is None.

    Change weights under `with torch.no_grad():`, or use an optimiser.
    """

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
    patterns = (r"requires_grad\s*=\s*True", r"\.backward\(")

    GOOD = (
        Snippet("under no_grad", CHANGED_HEAD + LOOP + "    with torch.no_grad():\n        w -= lr * w.grad\n    w.grad = None\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a step by hand", CHANGED_HEAD + LOOP + "    w -= lr * w.grad\n    w.grad.zero_()\n", line=9),
        Snippet("parameters of a model", "import torch\nfrom torch import nn\n\ndef train(model, data, lr):\n    for x, y in data:\n        ((model(x) - y) ** 2).mean().backward()\n"
                "        for p in model.parameters():\n            p.sub_(lr * p.grad)\n        model.zero_grad()\n", line=8),
        Snippet("a part of it", "import torch\n\nw = torch.zeros(3, requires_grad=True)\nw[0] = 1.0\n(w * 2).sum().backward()\n", line=4),
        Snippet("weights of a layer", "import torch\n\nlayer = torch.nn.Linear(3, 1)\nlayer.weight.fill_(0.5)\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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


OPTIMISED_HEAD = "import torch\n"
_MAKERS = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "randn", "rand", "tensor", "full", "empty", "zeros_like", "ones_like", "randn_like", "rand_like", "eye")
)  # fmt: skip
_SAME_WHEN_THERE = frozenset(("to", "cuda", "float", "contiguous", "type", "xpu"))
_NEW = frozenset(
    (
        *VIEWS,
        "clone",
        "double",
        "half",
        "mul",
        "add",
        "div",
        "abs",
        "exp",
        "repeat",
        "expand",
        "clamp",
        "sigmoid",
    )
)


class OptimisedTensorIsNoLeaf(StaticRule, code="S418", cause="OPT-PARAMS"):
    """An optimiser gets a tensor that was computed from the one that requires gradients: `torch.zeros(…, requires_grad=True).to(device)`.

    The move, the reshaping or the arithmetic makes a new tensor. The optimiser refuses it ("can't optimize a non-leaf Tensor"), and
    `.grad` of the result stays empty; the tensor that was made first is lost. With `.to(device)` it works on one machine only.

    Make it where it shall be, or switch gradients on at the end: `torch.zeros(…, device=device, requires_grad=True)`.
    """

    message = "This is not the tensor that requires gradients but one computed from it; write requires_grad=True last: torch.zeros(..., device=device, requires_grad=True)."
    triggers = ("requires_grad",)
    patterns = (r"requires_grad(?:=True|_\(\s*(?:True)?\s*\))\s*\)?\s*[.*+/-]",)

    GOOD = (
        Snippet("made on the device", OPTIMISED_HEAD + "x = torch.zeros(3, device=device, requires_grad=True)\nopt = torch.optim.SGD([x], lr=0.1)\n"),
        Snippet("stays where it is", OPTIMISED_HEAD + "x = torch.zeros(3, requires_grad=True).to('cpu')\nopt = torch.optim.SGD([x], lr=0.1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("moved", OPTIMISED_HEAD + "noise = torch.zeros(1, 3, requires_grad=True).to(device)\noptimizer = torch.optim.Adam([noise], lr=0.01)\n", line=2),
        Snippet("scaled", OPTIMISED_HEAD + "from torch import optim\nw = torch.randn(4, 2, requires_grad=True) * 0.01\nb = torch.zeros(2, requires_grad=True)\n"
                "opt = optim.SGD([w, b], lr=0.1)\n", line=3),
        Snippet("in a function", OPTIMISED_HEAD + "def fit(shape, steps):\n    code = torch.randn(shape).requires_grad_().cuda()\n"
                "    opt = torch.optim.LBFGS(params=[{'params': [code]}])\n    return opt\n", line=3),
        Snippet("in a class", OPTIMISED_HEAD + "class Attack:\n    def __init__(self, image):\n        self.delta = torch.zeros_like(image, requires_grad=True).clone()\n"
                "        self.opt = torch.optim.Adam([self.delta])\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for made in made_optimisers(program):
            for value in _given(made.call.argument("params", 0)):
                if _is_result(value):
                    yield self.finding(program, value.node)


def _given(value: Value | None) -> Iterator[Value]:
    """The tensors that stand in the optimiser's list."""
    value = resolved(value)
    if isinstance(value, Collection):
        if value.kind == "dict":
            yield from _given(value.get("params"))
        elif not value.repeated:
            for item in value.items:
                yield from _given(item)
    elif isinstance(value, Call | Operation):
        yield value


def _is_result(value: Value) -> bool:
    """Is it computed from a tensor that was made with gradients on?"""
    if isinstance(value, Operation):
        return value.operator in ("+", "-", "*", "/", "neg") and any(
            _requires(resolved(part)) for part in value.operands
        )
    if not isinstance(value, Call) or value.receiver is None:
        return False
    if value.method not in _NEW and not (value.method in _SAME_WHEN_THERE and _may_move(value)):
        return False
    inner = resolved(value.receiver)
    return _requires(inner) or _is_result(inner)


def _may_move(call: Call) -> bool:
    if call.method in ("cuda", "xpu"):
        return True
    given = call.argument("device", 0)
    if call.method != "to" or given is None:
        return False
    given = resolved(given)
    if isinstance(given, Call) and given.qualified == "torch.device" and given.args:
        given = given.args[0]
    return not (isinstance(given, Const) and str(given.value).startswith("cpu"))


def _requires(value: Value) -> bool:
    """A new tensor with gradients on."""
    if not isinstance(value, Call):
        return False
    if value.method == "requires_grad_" and value.receiver is not None:
        made = resolved(value.receiver)
        is_on = constant(value.argument("requires_grad", 0), True) is True
        return is_on and isinstance(made, Call) and made.qualified in _MAKERS
    return value.qualified in _MAKERS and constant(value.keywords.get("requires_grad")) is True
