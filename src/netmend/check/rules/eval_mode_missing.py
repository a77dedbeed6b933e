from __future__ import annotations

import ast
import re

from netmend.check.examples import NET_CLASS, TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Body, CallEvent, Event, Guard, Loop, before, common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Instance, Operation, Value, resolved
from netmend.program.meaning.loops import changes_in
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.models import escapes, is_computed_by
from netmend.program.meaning.modes import (
    MEANT_TO_DROP,
    calls_of_model,
    cares,
    guard_of,
    is_eval,
    may_switch,
    switches,
)
from netmend.program.meaning.modules import forward_around
from netmend.program.meaning.operations import depends_on, layer_name, operation, walk
from netmend.program.meaning.roles import MODEL, bare, role, same
from netmend.program.meaning.training import backward_calls, grad_is_off, loss_of
from netmend.program.text.edits import insert_before
from netmend.vocabulary.finding import SAFE, Fix

HEAD = f"""{TORCH}{NET_CLASS}\
        self.fc = nn.Linear(4, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.fc(self.drop(x))

net = Net()
opt = torch.optim.Adam(net.parameters())
"""
TRAIN = """\
for epoch in range(9):
    net.train()
    for x, y in train_loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
"""
CHECK = (
    "    with torch.no_grad():\n        hits = sum((net(x).argmax(1) == y).sum() for x, y in val_loader)\n"
)
TWO = f"""{TORCH}
def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

@torch.no_grad()
def test(model, loader):
    return sum(nn.functional.mse_loss(model(x), y).item() for x, y in loader)

def main(loader, test_loader):
    net = nn.Sequential(nn.Linear(4, 9), nn.BatchNorm1d(9), nn.ReLU(), nn.Linear(9, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    train(net, loader, optimizer)
    print(test(net, test_loader))
"""
_EVALUATION = re.compile("eval|test|valid|(^|_)val(_|$)|predict|infer|score|accuracy", re.IGNORECASE)
_MEASURES = frozenset(("argmax", "max", "topk", "sigmoid", "softmax", "round", "eq", "gt", "sub"))
_COMPARISONS = frozenset(("==", ">", "<", ">=", "<=", "!="))


class EvalModeMissing(StaticRule, code="S113", cause="LOOP-MODE-EVAL"):
    """A network with dropout or batch norm is evaluated while it is in training mode.

    Dropout removes random units from every prediction and batch norm mixes the samples of a batch (and learns from the evaluation
    data): scores are worse and differ from run to run, and model selection follows noise.

    Call `model.eval()` before the evaluation, and `model.train()` before training goes on.
    """

    message = "The model is evaluated in training mode (it has dropout or batch norm); call model.eval() before, and train() before the next epoch."
    triggers = (".backward(", "optim.")

    GOOD = (
        Snippet("switched", HEAD + TRAIN + "    net.eval()\n" + CHECK),
        Snippet("nothing depends on the mode", HEAD.replace("nn.Dropout(0.5)", "nn.Identity()") + TRAIN + CHECK),
        Snippet("dropout on purpose", HEAD + TRAIN + "with torch.no_grad():\n    draws = torch.stack([net(x).softmax(1) for _ in range(50)])\n"),
        Snippet("a pass for the statistics of batch norm", HEAD + TRAIN + "with torch.no_grad():\n    for x, y in train_loader:\n        net(x)\n"),
        Snippet("targets for the training itself", HEAD + "for x, y in data:\n    with torch.no_grad():\n        label = net(x).argmax(1)\n    opt.zero_grad()\n"
                "    nn.functional.cross_entropy(net(x + 1), label).backward()\n    opt.step()\n"),
        Snippet("an unknown helper may switch", HEAD + "from tools import ready\n" + TRAIN + "    ready(net)\n" + CHECK),
        Snippet("noise on purpose", HEAD.replace("nn.Dropout(0.5)", "nn.Identity()").replace("        return self.fc(self.drop(x))",
                "        if self.training:\n            x = x + torch.randn_like(x)\n        return self.fc(x)") + TRAIN + CHECK),
        Snippet("parts are replaced elsewhere", HEAD.replace("self.drop = nn.Dropout(0.5)", "self.body = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))").replace("self.drop(x)", "self.body(x)")
                .replace("\nnet = Net()", "    def save_memory(self):\n        self.body = torch.utils.checkpoint(self.body)\n\nnet = Net()") + TRAIN + "    net.eval()\n" + CHECK + "    net.train()\nnet.save_memory()\n"),
        Snippet("dropout on purpose, in a function", TWO.replace("def test(model, loader):\n", "def test(model, loader):\n    model.train()\n").replace("test(", "mc_dropout_test(")),
        Snippet("both modes in one evaluation", TWO.replace("def test(model, loader):\n", "def test(model, loader):\n    model.train()\n")
                .replace("    print(test", "    net.eval()\n    print(net(torch.zeros(1, 4)))\n    print(test")),
        Snippet("accuracy of the batch just trained on", HEAD + TRAIN + "        with torch.no_grad():\n            hits = (net(x).argmax(1) == y).sum()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the epoch loop", HEAD + TRAIN + CHECK, line=21, fixed=HEAD + TRAIN + "    net.eval()\n" + CHECK),
        Snippet("decorated function", TWO, line=10),
        Snippet("scores and probabilities", HEAD.replace("super().__init__()", "super(Net, self).__init__()").replace("return self.fc(self.drop(x))", "x = self.fc(self.drop(x))\n        return x, x.softmax(1)")
                + "def accuracy(model, loader):\n    return sum((model(x)[1].max(1)[1] == y).sum() for x, y in loader)\n\n"
                + TRAIN.replace("net(x), y", "net(x)[0], y") + "    with torch.set_grad_enabled(False):\n        print(accuracy(net, val_loader))\n", line=25),
        Snippet("the other mode was meant", TWO.replace("def test(model, loader):\n", "def test(model, loader):\n    model.train()\n").replace("    for x, y in loader:\n        optimizer", "    model.train()\n    for x, y in loader:\n        optimizer"), line=11),
        Snippet("switched back too early", HEAD + TRAIN + "    net.eval()\n    show(epoch)\n    net.train()\n" + CHECK, line=24),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: dict[int, bool] = {}
        for event in program.calls:
            call = event.call
            model = bare(call.function)
            if model is None or role(model) != MODEL or not isinstance(model, Instance | Call):
                continue
            is_layer = bool(layer_name(model)) and not layer_name(model).startswith("sequential")
            if is_layer or not grad_is_off(event) or forward_around(event) is not None:
                continue  # a part of a model is in the mode of the whole
            if id(model) not in seen:
                seen[id(model)] = self._is_ours(program, event, model)
            guard = guard_of(event)
            if not seen[id(model)] or guard is None or not self._is_training_mode(program, event, model):
                continue
            if self._is_evaluation(program, event, call, model, guard):
                node = guard.managers[0].node or guard.node
                yield self.finding(program, node, fix=self._fix(program, event, model, guard))

    def _is_ours(self, program: Program, event: Event, model: Value) -> bool:
        """Made and trained in the same evaluation of the program, never out of sight, and the mode matters to it."""
        if cares(model) is not True or not program.entry_of(event).complete:
            return False
        entry = program.entry_of(event)
        if not any(other.node is model.node for other in entry.block.events()) or escapes(
            program, model, _TORCH
        ):
            return False
        return any(
            is_computed_by(loss_of(backward), model) and program.entry_of(backward) is entry
            for backward in backward_calls(program)
        )

    def _is_training_mode(self, program: Program, event: Event, model: Value) -> bool:
        mine = [other for other in switches(program) if may_switch(other, model)]
        off = [
            other
            for other in mine
            if is_eval(other) and (other.order < event.order or common_loop(other, event) is not None)
        ]
        if not off:
            return True
        on = [other for other in mine if not is_eval(other) and before(other, event)]
        last = max((other.order for other in on), default=0)
        return bool(on) and not any(last < other.order < event.order for other in off)

    def _is_evaluation(self, program: Program, event: Event, call: Call, model: Value, guard: Guard) -> bool:
        inner = [loop for loop in event.loops() if guard in loop.around()]
        if inner and not any(changes_in(argument, inner[0]) for argument in call.args):
            return False  # the same input again and again: dropout is wanted
        body = event.body
        for other in switches(program):
            if is_eval(other) or _mistaken(program, other, model):
                continue
            if guard in other.around() and may_switch(other, model):
                return False
            if other.block.parent is body and body is not None and not _trains(program, body):
                return False  # a function that switches to training mode itself, to predict
        trained = [other for other in calls_of_model(list(program.calls), model) if not grad_is_off(other)]
        if any(_same_input(other, call) for other in trained):
            return False
        if any(depends_on(loss_of(backward), call) for backward in backward_calls(program)):
            return False
        return self._is_measured(program, call)

    def _is_measured(self, program: Program, result: Call) -> bool:
        """Does the output reach a loss, a choice or a comparison?"""
        inner = resolved(result)
        pieces = {
            id(result),
            id(inner),
            *(id(item) for item in (inner.items if isinstance(inner, Collection) else ())),
        }
        for event in program.calls:
            call = event.call
            use, op = loss_use(event), operation(call)
            measured = [use.prediction] if use is not None else []
            if op is not None and op.name in _MEASURES:
                measured += op.inputs[:1]
            if (
                call.receiver is not None
                and isinstance(call.receiver, Operation)
                and call.receiver.operator in _COMPARISONS
            ):
                measured += call.receiver.operands
            if any(id(part) in pieces for value in measured for part in walk(value)):
                return True
        return False

    def _fix(self, program: Program, event: Event, model: Value, guard: Guard) -> Fix | None:
        """Before the `with`, where training switches back by itself or does not go on."""
        node = event.node
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        if not isinstance(guard.node, ast.With):
            return None
        shared = [
            backward for backward in backward_calls(program) if isinstance(common_loop(backward, event), Loop)
        ]
        on = [other for other in switches(program) if not is_eval(other) and may_switch(other, model)]
        if not all(
            any(before(other, backward) and common_loop(other, event) is not None for other in on)
            for backward in shared
        ):
            return None
        edits = insert_before(program, guard.node, f"{node.func.id}.eval()")
        return Fix(f"Call {node.func.id}.eval()", edits, SAFE)


def _mistaken(program: Program, switch: Event, model: Value) -> bool:
    """train() in a function that is named as an evaluation, where no other call switches to evaluation mode."""
    around = next((above for above in program.above(switch.node) if isinstance(above, ast.FunctionDef)), None)
    named = around is not None and _EVALUATION.search(around.name) and not MEANT_TO_DROP.search(around.name)
    return bool(named) and not any(is_eval(o) for o in switches(program) if may_switch(o, model))


_TORCH = ("torch.", "print", "len", "isinstance", "list", "sum")


def _trains(program: Program, body: Body) -> bool:
    return any(body in backward.around() for backward in backward_calls(program))


def _same_input(trained: CallEvent, call: Call) -> bool:
    """A batch that the loop has just trained on, looked at once more."""
    given = trained.call.args
    if not given or not call.args or not any(changes_in(given[0], loop) for loop in trained.loops()):
        return False
    return same(given[0], call.args[0])
