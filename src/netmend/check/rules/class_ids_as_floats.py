from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Item, Operation, Value, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import LAYOUT, all_origins, operation
from netmend.vocabulary.finding import Finding

_FLOATS = ("float", "double", "half")
_FLATTEN = frozenset(("flatten", "squeeze", "argmax", "ravel"))
_PLAIN = frozenset(("to", "cuda", "cpu", "contiguous", "clone", "detach"))
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nnet = nn.Linear(12, 5)\n"


@register
class ClassIdsAsFloats(StaticRule):
    """Cross-entropy is given class ids as floats, or a one-hot code as whole numbers.

    The type of the target tells the loss what it is: whole numbers are class ids, one per sample; floats are probabilities, one per
    class. Ids as floats and one-hot codes as whole numbers fit neither, and the loss stops with an error of type or shape.

    Give ids with `.long()`, or probabilities of the shape of the logits with `.float()`.
    """

    code = "S723"
    cause = "INP-TYPE"
    message = "Cross-entropy takes class ids as integers; drop the conversion to float."
    triggers = ("cross_entropy", "CrossEntropyLoss")

    GOOD = (
        Snippet("whole numbers", HEAD + "loss = F.cross_entropy(net(x), y.long())\n"),
        Snippet("probabilities", HEAD + "loss = F.cross_entropy(net(x), F.one_hot(y, 5).float())\n"),
        Snippet("soft labels", HEAD + "loss = F.cross_entropy(net(x), targets.float())\n"),
        Snippet(
            "another loss",
            HEAD + "loss = F.binary_cross_entropy_with_logits(net(x).view(-1), y.view(-1).float())\n",
        ),
        Snippet("ids from a code", HEAD + "loss = F.cross_entropy(net(x), F.one_hot(y, 5).argmax(1))\n"),
    )
    BAD = (
        Snippet("one row of floats", HEAD + "loss = F.cross_entropy(net(x), y.view(-1).float())\n", line=6),
        Snippet("ids found by argmax", HEAD + "criterion = nn.CrossEntropyLoss()\ntarget = code.argmax(dim=1).float()\nloss = criterion(net(x), target)\n", line=8),
        Snippet("a one-hot code", HEAD + "onehot = F.one_hot(y, num_classes=5)\nfor b in torch.randperm(500).split(50):\n    loss = F.cross_entropy(net(x[b]), onehot[b])\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in losses(program):
            if use.kind != "cross_entropy" or not all_origins(
                use.prediction, lambda op: op.name == "linear" and op.layer is not None, _PLAIN
            ):
                continue
            if _is_float_ids(use.target):
                yield self.finding(program, use.node)
            elif _is_code(use.target):
                text = "The one-hot rows are integers, which cross-entropy reads as class ids; pass the ids themselves, or the rows as .float()."
                yield self.finding(program, use.node, text)


def _is_float_ids(value: Value | None) -> bool:
    """One axis for certain, and floats for certain."""
    is_float = is_flat = False
    for _ in range(20):
        op = operation(resolved(value)) if value is not None else None
        if op is None or not op.inputs:
            return False
        if op.name in _FLOATS:
            is_float = True
        elif (op.name in ("argmax", "flatten", "ravel") and _whole(op.name, op.value)) or _is_one_axis(
            op.name, op.value
        ):
            is_flat = True
        elif op.name not in LAYOUT - {"type", "unsqueeze", "expand", "long"} or op.name in (
            "view",
            "reshape",
            "permute",
            "transpose",
        ):
            return False
        if is_float and is_flat:
            return True
        value = op.inputs[0]
    return False


def _whole(name: str, call: Call) -> bool:
    return name == "argmax" or (len(call.args) + len(call.keywords) <= (0 if call.method else 1))


def _is_one_axis(name: str, call: Call) -> bool:
    sizes = call.args if call.method else call.args[1:]
    return name in ("view", "reshape") and len(sizes) == 1 and getattr(sizes[0], "value", None) == -1


def _is_code(value: Value | None) -> bool:
    for _ in range(20):
        value = resolved(value) if value is not None else None
        if isinstance(value, Item):
            if isinstance(resolved(value.key), Operation) and resolved(value.key).operator != "slice":  # type: ignore[attr-defined]
                return False
            value = value.base
            continue
        op = operation(value)
        if op is None:
            return False
        if op.name == "one_hot":
            return True
        if op.name not in _PLAIN or any(
            getattr(part, "qualified", "").startswith("torch.f") for part in op.inputs[1:]
        ):
            return False
        value = op.input
    return False
