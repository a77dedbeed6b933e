from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.losses import LossUse
from netmend.program.meaning.operations import operation
from netmend.program.meaning.training import backward_calls
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nnet = nn.Linear(4, 3)\ncriterion = nn.CrossEntropyLoss()\n"
FIT = (
    "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n        optimizer.zero_grad()\n        loss = criterion(model(x), y)\n"
    "        loss.backward()\n        optimizer.step()\n        print('%.3f' % {})\n"
)
_LONGEST = 30  # signs of an expression that the message repeats
_CRITERION = re.compile(r"criterion|loss_f|loss_func|objective", re.IGNORECASE)


@register
class ScalarLossIndexed(StaticRule):
    """The number is taken out of a loss by an index: `loss.data[0]`.

    A loss has no axis. Since PyTorch 0.5 this raises "invalid index of a 0-dim tensor", after the first step has already been made.

    Write `loss.item()`.
    """

    code = "S731"
    cause = "API-DEPRECATED"
    message = "A single number has no axis to index, so this raises IndexError; write {}.item()."
    triggers = ("[0]",)
    patterns = (r"\.data\[0\]",)

    GOOD = (
        Snippet("item", HEAD + "loss = criterion(net(x), y)\nprint(loss.item())\n"),
        Snippet("a loss for each sample", HEAD + "loss = F.cross_entropy(net(x), y, reduction='none')\nprint(loss[0], loss.data[0])\n"),
        Snippet("losses for each sample, made so", HEAD + "losses = nn.MSELoss(reduce=False)(net(x), y)\nprint(losses[0])\n"),
        Snippet("the first of several", HEAD + "losses = [criterion(net(x), y) for x, y in data]\nprint(losses[0], net(x).data[0])\n"),
        Snippet("a mean for each column", HEAD + "print(net(x).mean(0).data[0], frame.mean()[0])\n"),
        Snippet("one number with an axis", "import torch\nw = torch.tensor([1.0], requires_grad=True)\n\ndef loss(x, y):\n    return (x * w - y) ** 2\n\n"
                "for x, y in data:\n    l = loss(x, y)\n    l.backward()\n    print(l.data[0], w.data[0])\n"),
        Snippet("a model that gives several losses", "import torch\n\ndef train(model, loader):\n    for x in loader:\n        loss = model(x)\n        print(loss[0])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("printed", HEAD + "loss = criterion(net(x), y)\nprint(1, loss.data[0])\n", line=8,
                fixed=HEAD + "loss = criterion(net(x), y)\nprint(1, loss.item())\n"),
        Snippet("added up", HEAD + "total = 0\nfor x, y in data:\n    loss = F.mse_loss(net(x), y)\n    total += loss.data[0]\n", line=10,
                fixed=HEAD + "total = 0\nfor x, y in data:\n    loss = F.mse_loss(net(x), y)\n    total += loss.item()\n"),
        Snippet("in a test", HEAD + "def test(model, loader):\n    lost = 0\n    for x, y in loader:\n        lost += F.nll_loss(model(x), y, size_average=False).data[0]\n", line=10,
                fixed=HEAD + "def test(model, loader):\n    lost = 0\n    for x, y in loader:\n        lost += F.nll_loss(model(x), y, size_average=False).item()\n"),
        Snippet("a criterion that is given", FIT.format("loss.data[0]"), line=7, fixed=FIT.format("loss.item()")),
        Snippet("a sum of losses", HEAD + "a, b = criterion(net(x), y), criterion(net(z), y)\nloss = a + 0.5 * b\nhistory.append(loss.data[0])\n", line=9,
                fixed=HEAD + "a, b = criterion(net(x), y), criterion(net(z), y)\nloss = a + 0.5 * b\nhistory.append(loss.item())\n"),
        Snippet("a mean by hand", HEAD + "loss = (net(x) - y).pow(2).mean()\nprint(f'{loss.data[0]:.3f}')\n", line=8),
        Snippet("without data", HEAD + "loss = criterion(net(x), y)\nprint(loss[0])\n", line=8, fixed=HEAD + "loss = criterion(net(x), y)\nprint(loss.item())\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        uses = {id(use.call): use for use in loss_uses(program)}
        derived = {
            id(resolved(event.call.receiver))
            for event in backward_calls(program)
            if event.call is not None and event.call.receiver is not None and not event.call.args
        }
        seen: set[int] = set()
        for event in program.events:
            for item in _items(event):
                if item.node is None or id(item.node) in seen:
                    continue
                base = resolved(item.base)
                held = isinstance(base, Attribute) and base.name == "data"
                loss = resolved(base.base) if isinstance(base, Attribute) and held else base
                is_given = held and id(loss) in derived and _is_criterion(loss)
                if not is_given and not _has_no_axis(loss, uses, held):
                    continue
                seen.add(id(item.node))
                text = program.source(item.node).removesuffix("[0]").removesuffix(".data")
                edits = replace(program, item.node, f"{text}.item()")
                fix = Fix("Take the number with item()", edits, SAFE) if edits else None
                yield self.finding(
                    program, item.node, self.message.format(text if len(text) <= _LONGEST else "…"), fix=fix
                )


def _items(event: Event) -> Iterator[Item]:
    """Every `value[0]` that is written in what an event computes, calls aside: they have events of their own."""
    call = event.call
    waiting = [*call.args, *call.keywords.values()] if call is not None else [event.value]
    for _ in range(100):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, Item) and constant(value.key, "") == 0:
            yield value
        elif isinstance(value, Operation):
            waiting.extend(value.operands)
        elif isinstance(value, Collection):
            waiting.extend(value.items)


def _is_criterion(value: Value) -> bool:
    function = resolved(value.function) if isinstance(value, Call) else None
    return isinstance(function, Param | Attribute) and bool(_CRITERION.search(function.name))


def _has_no_axis(value: Value, uses: dict[int, LossUse], held: bool, depth: int = 6) -> bool:
    value = resolved(value)
    if depth == 0:
        return False
    if isinstance(value, Operation):
        parts = [part for part in map(resolved, value.operands) if not isinstance(part, Const)]
        return bool(parts) and all(_has_no_axis(part, uses, held, depth - 1) for part in parts)
    use = uses.get(id(value))
    if use is not None:
        reduction, reduce = use.option("reduction"), use.option("reduce")
        return constant(reduction, "mean" if reduction is None else "") in ("mean", "sum") and reduce is None
    op = operation(value)
    return (
        held  # a table of pandas has means for each column
        and op is not None
        and op.layer is None
        and op.name in ("mean", "sum")
        and len(op.inputs) == 1
        and not op.value.keywords
        and not op.value.open
    )
