"""Which axis holds the samples of a batch."""

from __future__ import annotations

from netmend.check.examples import net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.layouts import is_last_of, sizes_given
from netmend.program.meaning.models import is_module
from netmend.program.meaning.modules import RECURRENT
from netmend.program.meaning.operations import LAYOUT, Op, operation
from netmend.program.meaning.paths import paths
from netmend.program.meaning.roles import LOADER, MODEL, role
from netmend.program.meaning.shapes import shapes
from netmend.program.meaning.sizes import whole_number
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.uses import arithmetic
from netmend.vocabulary.finding import Fix

RECURRENT_HEAD = net(
    "rnn = nn.LSTM(3, 16{first})", "fc = nn.Linear(16, 2)", forward="        out, (h, c) = self.rnn(x)\n"
)
PLAIN, FIRST = RECURRENT_HEAD.format(first=""), RECURRENT_HEAD.format(first=", batch_first=True")


class BatchAxisOfRecurrentLayer(StaticRule, code="S312", cause="INP-FORMAT-RNN"):
    """The last step of a recurrent layer's output is taken along the axis of the batch.

    Without `batch_first=True` a recurrent layer takes and gives (time, batch, features): `out[:, -1]` is then the last *sample* of the
    batch at every step, and the recurrence runs over the samples. With `batch_first=True` the same happens with `out[-1]`. Nothing
    crashes; the network sees no sequence.

    For data with the batch first, make the layer with `batch_first=True` and take `out[:, -1]`; else take `out[-1]`.
    """

    message = "Without batch_first=True this takes the last sample of the batch, not the last step; create the layer with batch_first=True."
    triggers = ("nn.LSTM(", "nn.GRU(", "nn.RNN(", "LSTM(", "GRU(", "[:, -1")
    patterns = (r"(?:LSTM|GRU|RNN)\(", r"\[:, -1, :\]")

    GOOD = (
        Snippet("batch first", FIRST + "        return self.fc(out[:, -1])\n"),
        Snippet("swapped before", PLAIN + "        return self.fc(out.transpose(0, 1)[:, -1])\n"),
        Snippet("choice of the caller", "from torch import nn\n\ndef last(x, first):\n    out, _ = nn.GRU(3, 4, batch_first=first)(x)\n    return out[:, -1]\n"),
        Snippet("the first feature", PLAIN + "        return out[:, :, -1]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("forgotten", PLAIN + "        return self.fc(out[:, -1])\n", line=12,
                fixed=FIRST + "        return self.fc(out[:, -1])\n"),
        mended("with all axes written", "import torch.nn as nn\n\ngru = nn.GRU(8, 4, num_layers=2⟨ → , batch_first=True⟩)\n\ndef predict(x):\n    y, _ = gru(x)\n"
                "    return y[:, -1, :]\n", line=7),
        Snippet("batch first, last sample", FIRST + "        return self.fc(out[-1, :, :])\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = paths(program)
        for op in known.ops:
            if op.name not in RECURRENT or op.layer is None or op.layer.open or _has_one_sample(op):
                continue
            first = _batch_first(op.layer)
            for part in known.users.get(id(op.value), []):
                if not isinstance(part, Item) or constant(part.key) != 0 or first is None:
                    continue
                for user in known.users.get(id(part), []):
                    if not isinstance(user, Item):
                        continue
                    if not first and is_last_of(user.key, 1):
                        edits = with_argument(program, op.layer.node, "batch_first", "True")
                        yield self.finding(
                            program, user.node, fix=Fix("Create the layer with batch_first=True", edits)
                        )
                    elif first and _takes_last_sample(program, op, user.key):
                        yield self.finding(
                            program, user.node,
                            "With batch_first=True this takes the last sample of the batch, not the last step; write out[:, -1].",
                            cause="TSR-INDEX",
                        )  # fmt: skip


def _batch_first(layer: Call) -> bool | None:
    value = layer.keywords.get("batch_first", layer.args[4] if len(layer.args) > 4 else None)
    known = constant(value, False if value is None else None)
    return known if isinstance(known, bool) else None


def _has_one_sample(op: Op) -> bool:
    """`x.view(len(x), 1, -1)`, `x.unsqueeze(1)`: the batch was made of one sequence by hand."""
    for value in (op.input, *op.inputs[1:]):
        before = operation(resolved(value))
        if before is not None and before.name in ("view", "reshape"):
            wanted = sizes_given(before.value)
            if wanted is None or any(whole_number(size) == 1 for size in wanted):
                return True
        if before is not None and before.name in ("unsqueeze", "expand", "pack_padded_sequence"):
            return True
    return False


def _takes_last_sample(program: Program, op: Op, key: Value) -> bool:
    """`[-1, :, :]`, or `[-1]` where the input has a batch for certain."""
    if isinstance(resolved(key), Const) and constant(resolved(key)) == -1:
        given = shapes(program).of(op.input)
        return given is not None and given.rank == 3
    inner = resolved(key)
    return isinstance(inner, Collection) and len(inner.items) == 3 and is_last_of(key, 0)


PREDICTION_HEAD = "import torch\n\ndef test(model, loader):\n    hits = 0\n    for x, y in loader:\n        out = model(x)\n"
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


class PredictionOverBatchAxis(StaticRule, code="S608", cause="TSR-INDEX", preview=True):
    """The predicted class is taken over axis 0, which counts the samples of the batch.

    The result says which sample has the largest score for a class, not which class a sample has. Compared with the labels it gives
    a wrong accuracy or an error in shapes.

    Take it over the classes: `out.argmax(dim=1)`.
    """

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
        Snippet("over the classes", PREDICTION_HEAD + "        hits += (out.argmax(1) == y).sum()\n"),
        Snippet("classes first", PREDICTION_HEAD + "        hits += (out.t().argmax(0) == y).sum()\n"),
    )
    BAD = (
        Snippet("argmax", PREDICTION_HEAD + "        hits += (out.argmax(0) == y).sum()\n", line=7),
        Snippet(
            "max",
            PREDICTION_HEAD
            + "        _, pred = torch.max(out.data, 0)\n        hits += (pred == y).sum().item()\n",
            line=7,
        ),
        Snippet(
            "method with keyword",
            PREDICTION_HEAD
            + "        pred = torch.softmax(out, dim=1).argmax(dim=0)\n        hits += pred.eq(y).sum().item()\n",
            line=7,
        ),
    )

    def check(self, program: Program) -> Findings:
        pairs: list[tuple[Value, Value]] = []
        for comparison, _ in arithmetic(program):
            if comparison.operator == "==" and len(comparison.operands) == 2:
                pairs.append((comparison.operands[0], comparison.operands[1]))
        for event in program.methods_of("eq"):
            call = event.call
            if call.receiver is not None and call.args:
                pairs.append((call.receiver, call.args[0]))
        for one, other in pairs:
            for prediction, label in ((one, other), (other, one)):
                found = _over_first_axis(prediction)
                batch = _batch(label)
                if found is None or batch is None:
                    continue
                scores = found.receiver if found.method else found.args[0]
                if scores is not None and _is_model_output(scores, batch):
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
