"""How a loss is called and what it gives back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.losses import LOSS_FUNCTIONS
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
    options,
    resolved,
)
from netmend.program.meaning.batches import is_from_loop
from netmend.program.meaning.gradient_flow import reach
from netmend.program.meaning.loss_targets import class_ids
from netmend.program.meaning.losses import LossUse, loss_uses, made_by
from netmend.program.meaning.operations import operation
from netmend.program.meaning.statements import exchanged
from netmend.program.meaning.training import backward_calls
from netmend.program.text.edits import replace, wrap
from netmend.vocabulary.finding import SAFE, Fix

SWAPPED_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""
_KINDS = ("cross_entropy", "nll", "bce", "bce_logits")


class ArgumentsOfLossSwapped(StaticRule, code="S211", cause="API-USAGE"):
    """The loss is called with the target first and the prediction second.

    Losses take `(prediction, target)`. Swapped, cross-entropy fails with a type or size error, and the binary losses run and compute
    something else: the logarithm is taken of the labels and no longer of the prediction.

    Write `loss(prediction, target)`.
    """

    message = "The target comes first here; losses take (prediction, target)."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "BCELoss", "BCEWithLogitsLoss")

    GOOD = (
        Snippet("prediction first", SWAPPED_HEAD + "for x, y in loader:\n    loss = criterion(net(x), y)\n"),
        Snippet("by keyword", SWAPPED_HEAD + "for x, y in loader:\n    loss = F.cross_entropy(target=y, input=net(x))\n"),
        Snippet("parameters of unknown meaning", "import torch.nn.functional as F\ndef loss(a, b, model):\n    return F.cross_entropy(a, model(b))\n"),
        Snippet("a symmetric loss", SWAPPED_HEAD + "for x, y in loader:\n    loss = F.mse_loss(y, net(x))\n"),
        Snippet("scores stored, labels from a teacher", SWAPPED_HEAD + "for scores, x in loader:\n    loss = F.cross_entropy(scores, net(x).argmax(1))\n"),
    )  # fmt: skip
    BAD = (
        mended("in a loop", SWAPPED_HEAD + "for x, y in loader:\n    loss = criterion(⟨y, net(x) → net(x), y⟩)\n    loss.backward()\n"),
        mended("with a model that is not known", "import torch.nn.functional as F\n\ndef train(model, loader, optimizer):\n    for x, target in loader:\n        out = model(x)\n"
                "        loss = F.binary_cross_entropy(⟨target.float(), out → out, target.float()⟩)\n        loss.backward()\n"
                "        optimizer.step()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            if use.kind not in _KINDS or use.prediction is None or use.target is None:
                continue
            if use.call.keywords.keys() & {"input", "target"}:
                continue
            is_data = is_from_loop(use.prediction) or class_ids(program, use.prediction) is not None
            if is_data and not is_from_loop(use.target) and reach(program, use.target).open:
                yield self.finding(program, use.node, fix=_swapped(program, use))


def _swapped(program: Program, use: LossUse) -> Fix | None:
    node = use.call.node
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    return Fix("Swap prediction and target", exchanged(program, node.args[0], node.args[1]))


CLASS_HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 3)\n"
_CLASSES = tuple(LOSS_FUNCTIONS)


class LossClassCalled(StaticRule, code="S214", cause="API-USAGE"):
    """A loss class is called with prediction and target, as if it were the loss function.

    `nn.CrossEntropyLoss(out, y)` makes a loss object and takes the prediction for the class weights; nothing is computed, and the next
    line that needs a number fails.

    Make the object first and call it: `nn.CrossEntropyLoss()(out, y)`, or use the function `F.cross_entropy(out, y)`.
    """

    message = (
        "nn.{0}(prediction, target) creates a loss and computes nothing; write nn.{0}()(prediction, target)."
    )
    triggers = tuple(f"{name}(" for name in _CLASSES)

    GOOD = (
        Snippet("made, then called", CLASS_HEAD + "criterion = nn.CrossEntropyLoss()\nloss = criterion(net(x), y)\n"),
        Snippet("class weights", CLASS_HEAD + "criterion = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 1.0]))\nloss = criterion(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("cross-entropy", CLASS_HEAD + "out = net(x)\n- loss = nn.CrossEntropyLoss(out, y)\n+ loss = nn.CrossEntropyLoss()(out, y)\nloss.backward()\n"),
        mended("in a function", "import torch\n\ndef train(model, loader):\n    for x, y in loader:\n        - loss = torch.nn.MSELoss(model(x), y)\n"
                "        + loss = torch.nn.MSELoss()(model(x), y)\n        loss.backward()\n"),
        mended("used as a number", CLASS_HEAD + "- loss = nn.BCELoss(net(x).sigmoid(), target)\n+ loss = nn.BCELoss()(net(x).sigmoid(), target)\nprint(loss.item())\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        made = {
            id(event.value): event
            for event in program.calls_of(*(f"torch.nn.{name}" for name in _CLASSES))
            if (call := event.call) is not None
            and len(call.args) >= 2
            and not isinstance(call.args[1], Const)
        }
        if not made:
            return
        # A number is wanted of it: that proves that the loss itself was meant.
        for event in program.methods_of("backward", "item", "detach", "mean", "cpu"):
            call = event.call
            loss = made.get(id(call.receiver))
            if loss is not None and isinstance(loss.node, ast.Call):
                name = getattr(loss.node.func, "attr", getattr(loss.node.func, "id", ""))
                fix = Fix("Create the loss, then call it", wrap(program, loss.node.func, "", "()"))
                yield self.finding(program, loss.node, self.message.format(name), fix=fix)


UNREDUCED_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss(reduction="none")
"""


class UnreducedLossBackward(StaticRule, code="S215", cause="LOS-CALC"):
    """backward() is called on a loss made with reduction="none", which has one value per sample.

    `backward()` without arguments needs a single number and stops with "grad can be implicitly created only for scalar outputs".

    Reduce it first: `loss.mean().backward()`, after weighting or masking it.
    """

    message = 'This loss has reduction="none", one value per sample; average it before backward(): loss.mean().backward().'
    triggers = ('reduction="none"', "reduction='none'", "reduce=False")

    GOOD = (
        Snippet("reduced", UNREDUCED_HEAD + "loss = criterion(net(x), y).mean()\nloss.backward()\n"),
        Snippet("gradient given", UNREDUCED_HEAD + "loss = criterion(net(x), y)\nloss.backward(torch.ones_like(loss))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("object", UNREDUCED_HEAD + "loss = criterion(net(x), y)\nloss.backward()\n", line=8),
        Snippet("function", UNREDUCED_HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x), y, reduction='none')\n    loss.backward()\n", line=9),
        Snippet("with a scaler and a factor", UNREDUCED_HEAD + "scaler = torch.amp.GradScaler()\nloss = criterion(net(x), y) / steps\nscaler.scale(loss).backward()\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        unreduced = {id(use.call): use for use in loss_uses(program) if _is_unreduced(use)}
        if not unreduced:
            return
        for event in backward_calls(program):
            call = event.call
            if call.args or "gradient" in call.keywords or call.open or call.receiver is None:
                continue
            uses = [_behind(option, unreduced) for option in options(resolved(call.receiver))]
            if uses and all(uses) and uses[0] is not None:
                yield self.finding(program, event.node, see=[("the loss is computed here", uses[0].node)])


def _is_unreduced(use: LossUse) -> bool:
    holders = made_by(use) or (use.call,)
    return all(
        constant(holder.keywords.get("reduction")) == "none"
        or constant(holder.keywords.get("reduce")) is False
        for holder in holders
    )


def _behind(value: Value, unreduced: dict[int, LossUse]) -> LossUse | None:
    """The unreduced loss that a value is, up to a constant or named factor."""
    value = resolved(value)
    if isinstance(value, Call):
        if id(value) in unreduced:
            return unreduced[id(value)]
        if value.method == "scale" and len(value.args) == 1:
            return _behind(value.args[0], unreduced)
    if isinstance(value, Operation) and value.operator in ("*", "/", "+", "-") and len(value.operands) == 2:
        return _behind(value.operands[0], unreduced) or _behind(value.operands[1], unreduced)
    return None


FIT = (
    "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n        optimizer.zero_grad()\n        loss = criterion(model(x), y)\n"
    "        loss.backward()\n        optimizer.step()\n        print('%.3f' % {})\n"
)
_LONGEST = 30  # signs of an expression that the message repeats
_CRITERION = re.compile(r"criterion|loss_f|loss_func|objective", re.IGNORECASE)


class ScalarLossIndexed(StaticRule, code="S731", cause="API-DEPRECATED"):
    """The number is taken out of a loss by an index: `loss.data[0]`.

    A loss has no axis. Since PyTorch 0.5 this raises "invalid index of a 0-dim tensor", after the first step has already been made.

    Write `loss.item()`.
    """

    message = "A single number has no axis to index, so this raises IndexError; write {}.item()."
    triggers = ("[0]",)
    patterns = (r"\.data\[0\]",)

    GOOD = (
        Snippet("item", SWAPPED_HEAD + "loss = criterion(net(x), y)\nprint(loss.item())\n"),
        Snippet("a loss for each sample", SWAPPED_HEAD + "loss = F.cross_entropy(net(x), y, reduction='none')\nprint(loss[0], loss.data[0])\n"),
        Snippet("losses for each sample, made so", SWAPPED_HEAD + "losses = nn.MSELoss(reduce=False)(net(x), y)\nprint(losses[0])\n"),
        Snippet("the first of several", SWAPPED_HEAD + "losses = [criterion(net(x), y) for x, y in data]\nprint(losses[0], net(x).data[0])\n"),
        Snippet("a mean for each column", SWAPPED_HEAD + "print(net(x).mean(0).data[0], frame.mean()[0])\n"),
        Snippet("one number with an axis", "import torch\nw = torch.tensor([1.0], requires_grad=True)\n\ndef loss(x, y):\n    return (x * w - y) ** 2\n\n"
                "for x, y in data:\n    l = loss(x, y)\n    l.backward()\n    print(l.data[0], w.data[0])\n"),
    )  # fmt: skip
    BAD = (
        mended("printed", SWAPPED_HEAD + "loss = criterion(net(x), y)\nprint(1, loss.⟨data[0] → item()⟩)\n"),
        mended("added up", SWAPPED_HEAD + "total = 0\nfor x, y in data:\n    loss = F.mse_loss(net(x), y)\n    total += loss.⟨data[0] → item()⟩\n"),
        mended("in a test", SWAPPED_HEAD + "def test(model, loader):\n    lost = 0\n    for x, y in loader:\n"
                "        lost += F.nll_loss(model(x), y, size_average=False).⟨data[0] → item()⟩\n"),
        mended("a criterion that is given", FIT.format("loss.⟨data[0] → item()⟩")),
        mended("a sum of losses", SWAPPED_HEAD + "a, b = criterion(net(x), y), criterion(net(z), y)\nloss = a + 0.5 * b\nhistory.append(loss.⟨data[0] → item()⟩)\n"),
        Snippet("a mean by hand", SWAPPED_HEAD + "loss = (net(x) - y).pow(2).mean()\nprint(f'{loss.data[0]:.3f}')\n", line=8),
        mended("without data", SWAPPED_HEAD + "loss = criterion(net(x), y)\nprint(loss⟨[0] → .item()⟩)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        uses = {id(use.call): use for use in loss_uses(program)}
        derived = {
            id(resolved(event.call.receiver))
            for event in backward_calls(program)
            if event.call.receiver is not None and not event.call.args
        }
        for event in program.events:
            for item in _items(event):
                base = resolved(item.base)
                held = isinstance(base, Attribute) and base.name == "data"
                loss = resolved(base.base) if isinstance(base, Attribute) and held else base
                is_given = held and id(loss) in derived and _is_criterion(loss)
                if not is_given and not _has_no_axis(loss, uses, held):
                    continue
                if item.node is None:
                    continue
                text = program.source(item.node).removesuffix("[0]").removesuffix(".data")
                fix = Fix("Take the number with item()", replace(program, item.node, f"{text}.item()"), SAFE)
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
