from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Item, Operation, Value, constant, resolved
from netmend.program.meaning.losses import LossUse, losses
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.meaning.training import rounds
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nnet = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nsize = 32\n"
STEP = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
_ORDERS = ("torch.randperm", "numpy.random.permutation")


@register
class BatchCutWrongly(StaticRule):
    """Batches are cut by hand so that they overlap, or so that inputs and labels come from different rows.

    `for i in range(len(x) // size): x[i : i + size]` moves on by one row instead of one batch: most of the data is never seen, and the rows at the
    start are seen again and again. Inputs that are picked by a permutation need labels that are picked by the same one.

    Write `for i in range(0, len(x), size)`, or use a `DataLoader`.
    """

    code = "S526"
    cause = "HYP-BATCH-IMPL"
    message = "i counts batches here, so these rows move on by one, not by one batch; use range(0, len(x), size) or x[i * size : (i + 1) * size]."
    triggers = (".backward(",)
    needs = "range"
    patterns = (r"\[\w+\s*:\s*\w+\s*\+",)

    GOOD = (
        Snippet("by the size", HEAD + "for i in range(0, len(x), size):\n    loss = F.cross_entropy(net(x[i : i + size]), y[i : i + size])\n" + STEP),
        Snippet("multiplied", HEAD + "for i in range(len(x) // size):\n    a = i * size\n    loss = F.cross_entropy(net(x[a : a + size]), y[a : a + size])\n" + STEP),
        Snippet("windows of a series", HEAD + "for i in range(len(x) - size):\n    loss = F.mse_loss(net(x[i : i + size]), x[i + 1 : i + size + 1])\n" + STEP),
        Snippet("one permutation for both", HEAD + "order = torch.randperm(len(x))\nfor i in range(0, len(x), size):\n    rows = order[i : i + size]\n    loss = F.cross_entropy(net(x[rows]), y[rows])\n" + STEP),
        Snippet("labels put in order before", HEAD + "order = torch.randperm(len(x))\ny = y[order]\nfor i in range(0, len(x), size):\n    loss = F.cross_entropy(net(x[order[i : i + size]]), y[i : i + size])\n" + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("moves by one", HEAD + "for i in range(len(x) // size):\n    loss = F.cross_entropy(net(x[i : i + size]), y[i : i + size])\n" + STEP, line=9),
        Snippet("moves by one, with names", HEAD + "def train(x, y, count):\n    batches = int(count / size)\n    for b in range(batches):\n        xb = x[b:b + size]\n        yb = y[b:b + size]\n        loss = F.cross_entropy(net(xb), yb)\n"
                "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n", line=11),
        Snippet("labels not permuted", HEAD + "order = torch.randperm(len(x))\nfor i in range(0, len(x), size):\n    xb = x[order[i : i + size]]\n    yb = y[i : i + size]\n    loss = F.cross_entropy(net(xb), yb)\n" + STEP, line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for turn in rounds(program):
            for backward in turn.backward:
                for value in walk(loss_of(backward)):
                    if (
                        isinstance(value, Item)
                        and id(turn.loop) not in told
                        and value.node is not None
                        and _moves_by_one(value)
                    ):
                        told.add(id(turn.loop))
                        yield self.finding(program, value.node)
        for use in losses(program):
            label = resolved(use.target) if use.target is not None else None
            if isinstance(label, Item) and label.node is not None and _is_apart(use, label):
                text = "The inputs are permuted and these labels are not; use the same rows for both."
                yield self.finding(program, label.node, text, cause="DAT-LABEL")


def _bounds(key: Value | None) -> tuple[Value, Value] | None:
    key = resolved(key) if key is not None else None
    if isinstance(key, Operation) and key.operator == "slice" and constant(key.operands[2]) is None:
        return resolved(key.operands[0]), resolved(key.operands[1])
    return None


def _moves_by_one(item: Item) -> bool:
    """`x[i : i + size]` with `i` of `range(len(x) // size)`."""
    bounds = _bounds(item.key)
    if bounds is None or not isinstance(bounds[0], Element):
        return False
    start, end = bounds
    if not isinstance(end, Operation) or end.operator != "+" or end.operands[0] is not start:
        return False
    rows = resolved(start.iterable) if isinstance(start, Element) else None
    if not isinstance(rows, Call) or rows.qualified != "range" or len(rows.args) != 1:
        return False
    count = resolved(rows.args[0])
    if (
        isinstance(count, Call)
        and count.qualified in ("int", "math.ceil", "math.floor")
        and len(count.args) == 1
    ):
        count = resolved(count.args[0])
    divides = isinstance(count, Operation) and count.operator in ("//", "/")
    return divides and isinstance(count, Operation) and _is_same_size(count.operands[1], end.operands[1])


def _is_same_size(one: Value, other: Value) -> bool:
    number = constant(resolved(one))
    return same(one, other) or (number is not None and number == constant(resolved(other)))


def _is_apart(use: LossUse, label: Item) -> bool:
    """Rows `order[i : j]` of the inputs against rows `i : j` of labels that nobody permuted."""
    rows = _bounds(label.key)
    base = resolved(label.base)
    if rows is None or not isinstance(rows[0], Element) or isinstance(base, Item):
        return False
    for value in walk(use.prediction):
        picked = resolved(value.key) if isinstance(value, Item) else None
        if not isinstance(picked, Item):
            continue
        order = resolved(picked.base)
        other = _bounds(picked.key)
        if (
            isinstance(order, Call)
            and order.qualified in _ORDERS
            and other is not None
            and other[0] is rows[0]
        ):
            return not any(part is order for part in walk(base))
    return False
