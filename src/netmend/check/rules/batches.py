"""Loops that see one batch only, or batches cut wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import AUGMENT, RETURN, Event, Guard, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Element, Item, Operation, Value, constant, resolved
from netmend.program.meaning.loaders import loader_made
from netmend.program.meaning.loops import is_over_loader, leaves
from netmend.program.meaning.losses import LossUse, losses
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.meaning.training import is_backward, loss_of, rounds

TRAIN = """\
def train(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""
SCORE = """\
import torch

def accuracy(model, loader):
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
"""


class OnlyFirstBatch(StaticRule, code="S126", cause="HYP-EPOCH-FEW", preview=True):
    """A loop over batches always ends in its first round.

    A `break` left from debugging, or a `return` indented one level too deep: only the first batch of the loader is ever used, in
    training or for the score.

    Remove the `break`, or move the `return` behind the loop.
    """

    message = "This ends the loop after its first batch; remove it, or move it after the loop."
    triggers = ("loader", "batches")
    patterns = (r"for [^\n]*(?:loader|batches)",)

    GOOD = (
        Snippet("all batches", TRAIN + "    return loss.item()\n"),
        Snippet("stops under a condition", TRAIN + "        if loss.item() < 0.1:\n            break\n"),
        Snippet("a function inside returns", TRAIN.replace("        loss = criterion(model(x), y)\n", "        def score():\n            return criterion(model(x), y)\n        loss = score()\n")),
    )  # fmt: skip
    BAD = (
        Snippet("left from debugging", TRAIN + "        break\n", line=7),
        Snippet("returns too early", TRAIN + "        return loss.item()\n", line=7),
        Snippet("score of one batch", SCORE + "            return hits / total\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for loop in program.loops:
            if not is_over_loader(loop):
                continue
            last = next((event for event in _straight(loop) if leaves(event, loop)), None)
            if last is not None and self._works(loop, last):
                yield self.finding(program, last.node)

    def _works(self, loop: Loop, last: Event) -> bool:
        """Does the loop train, or add up a score? Else it may be there to fetch one batch."""
        events = list(loop.body.events())
        if any(map(is_backward, events)):
            return True
        return last.kind == RETURN and any(event.kind == AUGMENT for event in events)


def _straight(loop: Loop) -> Iterator[Event]:
    """The events that happen in each round, `with` statements entered."""
    waiting = list(loop.body.items)
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, Event):
            yield item
        elif isinstance(item, Guard):
            waiting[:0] = [inner for block in item.blocks for inner in block.items]


AGAIN_HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
LOOP = """\
for step in range(1000):
    x, y = {0}
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""


class FirstBatchAgain(StaticRule, code="S517", cause="HYP-BATCH-IMPL", preview=True):
    """`next(iter(loader))` stands inside the training loop, and the loader does not shuffle.

    `iter(loader)` starts from the beginning each time, so every step trains on the first batch alone; the rest of the data is
    never seen.

    Run through the loader (`for x, y in loader:`), or make the iterator once before the loop.
    """

    message = "Every step gets the first batch again; iterate over the loader with a for loop, or create the iterator once."
    triggers = ("next(",)

    GOOD = (
        Snippet(
            "a loop over the loader",
            AGAIN_HEAD
            + "for x, y in DataLoader(data, batch_size=8):\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n",
        ),
        Snippet(
            "iterator made once",
            AGAIN_HEAD + "batches = iter(DataLoader(data, batch_size=8))\n" + LOOP.format("next(batches)"),
        ),
        Snippet(
            "another batch each time",
            AGAIN_HEAD
            + "loader = DataLoader(data, batch_size=8, shuffle=True)\n"
            + LOOP.format("next(iter(loader))"),
        ),
        Snippet(
            "not known how it draws",
            AGAIN_HEAD
            + "loader = DataLoader(data, batch_size=8, sampler=sampler)\n"
            + LOOP.format("next(iter(loader))"),
        ),
        Snippet(
            "the loader is made in the loop",
            AGAIN_HEAD + LOOP.format("next(iter(DataLoader(collect(step), batch_size=8)))"),
        ),
    )
    BAD = (
        Snippet("first batch only", AGAIN_HEAD + "loader = DataLoader(data, batch_size=8)\n" + LOOP.format("next(iter(loader))"), line=9),
        Snippet("in a function", AGAIN_HEAD + "def fit(loader):\n" + "".join(f"    {line}\n" for line in LOOP.format("next(iter(loader))").splitlines())
                + "\nfit(DataLoader(data, batch_size=8, shuffle=False))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in rounds(program):
            for event in turn.loop.body.events():
                call = event.call
                if call is None or call.qualified != "next" or not call.args:
                    continue
                inner = resolved(call.args[0])
                if not isinstance(inner, Call) or inner.qualified != "iter" or not inner.args:
                    continue
                loader = loader_made(inner.args[0])
                if loader is None or not _starts_alike(loader):
                    continue
                inside = {id(other.value) for other in turn.loop.body.events()}
                if id(inner) in inside and id(loader) not in inside:
                    yield self.finding(program, event.node)


def _starts_alike(loader: Call) -> bool:
    """Does the loader give the same first batch each time?"""
    shuffle = loader.argument("shuffle", 2)
    if loader.open or (shuffle is not None and not isinstance(shuffle, Const)) or constant(shuffle, False):
        return False
    return not any(
        value is not None and not (isinstance(value, Const) and value.value is None)
        for value in (loader.argument("sampler", 3), loader.argument("batch_sampler", 4))
    )


CUT_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nnet = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nsize = 32\n"
STEP = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
_ORDERS = ("torch.randperm", "numpy.random.permutation")


class BatchCutWrongly(StaticRule, code="S526", cause="HYP-BATCH-IMPL", preview=True):
    """Batches are cut by hand so that they overlap, or so that inputs and labels come from different rows.

    `for i in range(len(x) // size): x[i : i + size]` moves on by one row instead of one batch: most of the data is never seen, and the rows at the
    start are seen again and again. Inputs that are picked by a permutation need labels that are picked by the same one.

    Write `for i in range(0, len(x), size)`, or use a `DataLoader`.
    """

    message = "i counts batches here, so these rows move on by one, not by one batch; use range(0, len(x), size) or x[i * size : (i + 1) * size]."
    triggers = (".backward(",)
    needs = "range"
    patterns = (r"\[\w+\s*:\s*\w+\s*\+",)

    GOOD = (
        Snippet("by the size", CUT_HEAD + "for i in range(0, len(x), size):\n    loss = F.cross_entropy(net(x[i : i + size]), y[i : i + size])\n" + STEP),
        Snippet("windows of a series", CUT_HEAD + "for i in range(len(x) - size):\n    loss = F.mse_loss(net(x[i : i + size]), x[i + 1 : i + size + 1])\n" + STEP),
        Snippet("one permutation for both", CUT_HEAD + "order = torch.randperm(len(x))\nfor i in range(0, len(x), size):\n    rows = order[i : i + size]\n    loss = F.cross_entropy(net(x[rows]), y[rows])\n" + STEP),
        Snippet("labels put in order before", CUT_HEAD + "order = torch.randperm(len(x))\ny = y[order]\nfor i in range(0, len(x), size):\n    loss = F.cross_entropy(net(x[order[i : i + size]]), y[i : i + size])\n" + STEP),
    )  # fmt: skip
    BAD = (
        Snippet("moves by one", CUT_HEAD + "for i in range(len(x) // size):\n    loss = F.cross_entropy(net(x[i : i + size]), y[i : i + size])\n" + STEP, line=9),
        Snippet("moves by one, with names", CUT_HEAD + "def train(x, y, count):\n    batches = int(count / size)\n    for b in range(batches):\n        xb = x[b:b + size]\n        yb = y[b:b + size]\n        loss = F.cross_entropy(net(xb), yb)\n"
                "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n", line=11),
        Snippet("labels not permuted", CUT_HEAD + "order = torch.randperm(len(x))\nfor i in range(0, len(x), size):\n    xb = x[order[i : i + size]]\n    yb = y[i : i + size]\n    loss = F.cross_entropy(net(xb), yb)\n" + STEP, line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for turn in rounds(program):
            for backward in turn.backward:
                for value in walk(loss_of(backward)):
                    if isinstance(value, Item) and id(turn.loop) not in told and _moves_by_one(value):
                        told.add(id(turn.loop))
                        yield self.finding(program, value.node)
        for use in losses(program):
            label = resolved(use.target)
            if isinstance(label, Item) and _is_apart(use, label):
                text = "The inputs are permuted and these labels are not; use the same rows for both."
                yield self.finding(program, label.node, text, cause="DAT-LABEL")


def _bounds(key: Value | None) -> tuple[Value, Value] | None:
    key = resolved(key)
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
