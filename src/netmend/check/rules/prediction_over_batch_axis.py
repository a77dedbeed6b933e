from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Element,
    Item,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import LAYOUT, operation
from netmend.program.meaning.roles import LOADER, MODEL, role
from netmend.program.meaning.uses import arithmetic
from netmend.vocabulary.finding import Finding

HEAD = "import torch\n\ndef test(model, loader):\n    hits = 0\n    for x, y in loader:\n        out = model(x)\n"
_KEEP = LAYOUT - {
    "permute",
    "transpose",
    "t",
    "swapaxes",
    "movedim",
    "squeeze",
    "view",
    "reshape",
    "flatten",
} | {"softmax", "log_softmax", "sigmoid", "detach"}


@register
class PredictionOverBatchAxis(StaticRule):
    """The predicted class is taken over axis 0, which counts the samples of the batch.

    The result says which sample has the largest score for a class, not which class a sample has. Compared with the labels it gives
    a wrong accuracy or an error in shapes.

    Take it over the classes: `out.argmax(dim=1)`.
    """

    code = "S608"
    cause = "TSR-INDEX"
    message = "Axis 0 counts the samples; take the class over the scores of each sample: dim=1."
    triggers = (
        "argmax(0",
        "argmax(dim=0",
        ".max(0",
        ".max(dim=0",
        "torch.max(",
        "torch.argmax(",
        "th.max(",
        "th.argmax(",
    )
    patterns = (r"(?:argmax|max)\([^\n]*\b0\b",)

    GOOD = (
        Snippet("over the classes", HEAD + "        hits += (out.argmax(1) == y).sum()\n"),
        Snippet("one sample", HEAD + "        hits += int(out[0].argmax(0) == y[0])\n"),
        Snippet("classes first", HEAD + "        hits += (out.t().argmax(0) == y).sum()\n"),
        Snippet("the nearest of a batch", HEAD + "        print(out.argmax(0))\n"),
        Snippet(
            "votes of several models",
            "import torch\ndef vote(models, x, y):\n    scores = torch.stack([m(x) for m in models])\n    return scores.argmax(0) == y\n",
        ),
    )
    BAD = (
        Snippet("argmax", HEAD + "        hits += (out.argmax(0) == y).sum()\n", line=7),
        Snippet(
            "max",
            HEAD + "        _, pred = torch.max(out.data, 0)\n        hits += (pred == y).sum().item()\n",
            line=7,
        ),
        Snippet(
            "method with keyword",
            HEAD
            + "        pred = torch.softmax(out, dim=1).argmax(dim=0)\n        hits += pred.eq(y).sum().item()\n",
            line=7,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        pairs: list[tuple[Value, Value]] = []
        for comparison, _ in arithmetic(program):
            if comparison.operator == "==" and len(comparison.operands) == 2:
                pairs.append((comparison.operands[0], comparison.operands[1]))
        for event in program.methods_of("eq"):
            call = event.call
            if call is not None and call.receiver is not None and call.args:
                pairs.append((call.receiver, call.args[0]))
        seen: set[int] = set()
        for one, other in pairs:
            for prediction, label in ((one, other), (other, one)):
                found = _over_first_axis(prediction)
                batch = _batch(label)
                if found is None or batch is None or found.node is None or id(found.node) in seen:
                    continue
                scores = found.receiver if found.method else found.args[0]
                if scores is not None and _is_model_output(scores, batch):
                    seen.add(id(found.node))
                    yield self.finding(program, found.node)


def _over_first_axis(value: Value) -> Call | None:
    """The `argmax(0)` or the second part of `max(0)` that a value is."""
    value = same_numbers(value)
    wanted = "argmax"
    if (isinstance(value, Item) and constant(value.key) == 1) or (
        isinstance(value, Attribute) and value.name == "indices"
    ):
        value, wanted = resolved(value.base), "max"
    if not isinstance(value, Call) or (value.method or value.qualified.removeprefix("torch.")) != wanted:
        return None
    axis = value.argument("dim", 0 if value.method else 1)
    return value if constant(axis) == 0 and constant(axis) is not False else None


def _batch(label: Value) -> Element | Param | None:
    """The batch that labels were taken from, in a loop over a loader or as what a `training_step` is given."""
    label = same_numbers(label)
    base = resolved(label.base) if isinstance(label, Item) else None
    if isinstance(base, Param):
        return base if base.name == "batch" else None
    return base if isinstance(base, Element) and role(base.iterable) == LOADER else None


def _is_model_output(scores: Value, batch: Element | Param) -> bool:
    """Scores that a model gave for the inputs of the batch, samples first."""
    for _ in range(10):
        if isinstance(scores, Attribute) and scores.name == "data":
            scores = scores.base
            continue
        if not isinstance(scores, Call):
            return False
        if role(scores.function) == MODEL or is_module(scores.function):
            if len(scores.args) != 1 or scores.keywords:
                return False
            last = operation(resolved(scores))
            if scores.result is not None and (
                last is None or last.name in LAYOUT - _KEEP or isinstance(resolved(scores), Operation)
            ):
                return False
            given = same_numbers(scores.args[0])
            return isinstance(given, Item) and resolved(given.base) is batch
        op = operation(scores)
        if op is None or op.name not in _KEEP or op.input is None:
            return False
        scores = op.input
    return False
