from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value, constant, resolved
from netmend.program.meaning.modules import bodies, loads_of, module_classes
from netmend.program.meaning.sizes import setting
from netmend.vocabulary.finding import Edit, Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nclass Scale(nn.Module):\n    def __init__(self, device='cuda'):\n        super().__init__()\n"
USE = "\n    def forward(self, x):\n        return x * self.weight\n"
_MOVES = frozenset(("to", "cuda"))
_CHANGES = frozenset(
    ("view", "reshape", "float", "half", "double", "mul", "div", "add", "t", "transpose", "unsqueeze", "squeeze", "expand", "repeat",
     "clone", "permute", "contiguous", "abs", "exp", "sqrt", "flatten")
)  # fmt: skip


@register
class ParameterMadeIntoTensor(StaticRule):
    """What is stored in a module is computed from an `nn.Parameter`, so it is none itself.

    `nn.Parameter(...).to(device)`, `.cuda()`, `.view(...)` or `* 0.1` give an ordinary tensor that depends on a parameter nobody keeps:
    `parameters()` does not list it and the optimiser never trains it (`.to` gives the parameter itself only where nothing has to move).

    Do it inside: `nn.Parameter(torch.randn(3, device=device) * 0.1)`; move the whole model with `model.to(device)`.
    """

    code = "S314"
    cause = "ARC-INIT-MODEL"
    message = "The result is an ordinary tensor, not an nn.Parameter, and is not registered; do this inside nn.Parameter(…)."
    triggers = ("Parameter(",)
    patterns = (
        r"Parameter\([^\n]*\)\.(?:to|cuda|half|float|double)\(",
        r"Parameter\([^\n]*\)\s*[-*+/]",
        r"[-*+/] (?:[\w.]*nn\.)?Parameter\(",
    )

    GOOD = (
        Snippet("inside", HEAD + "        self.weight = nn.Parameter(torch.randn(3, device=device) * 0.1)\n" + USE),
        Snippet("requires_grad_ gives it back", HEAD + "        self.weight = nn.Parameter(torch.ones(3)).requires_grad_(False)\n" + USE),
        Snippet("its data", HEAD + "        self.weight = nn.Parameter(torch.ones(3))\n        self.start = self.weight.clone()\n" + USE),
        Snippet("computed in forward", HEAD + "        self.raw = nn.Parameter(torch.ones(3))\n\n    def forward(self, x):\n        self.last = self.raw * 2\n        return x * self.last\n"),
        Snippet("no module", "import torch\n\nclass Fit:\n    def __init__(self):\n        self.weight = torch.nn.Parameter(torch.ones(3)) * 2\n"),
    )  # fmt: skip
    BAD = (
        Snippet("moved", HEAD + "        self.weight = nn.Parameter(torch.randn(3)).to(device)\n" + USE, line=7,
                fixed=HEAD + "        self.weight = nn.Parameter(torch.randn(3).to(device))\n" + USE),
        Snippet("moved to the card", HEAD + "        self.weight = nn.Parameter(torch.randn(3)).cuda()\n" + USE, line=7,
                fixed=HEAD + "        self.weight = nn.Parameter(torch.randn(3).cuda())\n" + USE),
        Snippet("scaled", HEAD + "        self.weight = 0.1 * nn.Parameter(torch.randn(3))\n" + USE, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
    if not isinstance(value, Call) or value.qualified not in (
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
    ):
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
