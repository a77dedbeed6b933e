"""Networks that know the fold they are scored on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent, Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Class,
    Element,
    Instance,
    Item,
    Param,
    Value,
    resolved,
)
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import walk
from netmend.program.meaning.partitions import folds_of
from netmend.program.meaning.roles import MODEL, bare, role
from netmend.program.meaning.training import grad_is_off, is_backward, loss_of

HEAD = """\
import copy
import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import nn
X, y = torch.load("x.pt"), torch.load("y.pt")

def network():
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

"""
ROUND = """\
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(20):
        for b in torch.randperm(len(tr)).split(32):
            opt.zero_grad()
            nn.functional.cross_entropy(net(X[tr][b]), y[tr][b]).backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        print((net(X[te]).argmax(1) == y[te]).float().mean())
"""
FOLDS = "for tr, te in KFold(5).split(X):\n"
_ANEW = re.compile(r"reset|init|restore|load|clone|copy|fresh|anew|build|create|make", re.IGNORECASE)
_FOLD = re.compile(r"(^|_)folds?(_|\d|$)", re.IGNORECASE)


class OneNetworkForAllFolds(StaticRule, code="S952", cause="VAL-SPLIT"):
    """A network is made once, before the loop over the folds, and trained on from fold to fold.

    From the second fold on it has already been trained with the rows that are now the test fold. The results climb from fold to fold
    and their mean is far too good.

    Make a new network, and a new optimiser, inside the loop; or put the first weights back at the start of each fold.
    """

    message = "This network is trained on through all folds, so from the second on it has seen its test fold; make a new one inside the loop."
    triggers = ("KFold", "ShuffleSplit", "LeaveOneGroupOut", "LeaveOneOut", "LeavePOut", "fold", "!=")
    needs = "backward"
    patterns = (
        r"\.split\(",
        r"for\s+\w*fold",
    )

    GOOD = (
        Snippet("a new one for each fold", HEAD + FOLDS + "    net = network()\n" + ROUND),
        Snippet("the first weights are put back", HEAD + "net = network()\nstart = copy.deepcopy(net.state_dict())\n" + FOLDS + "    net.load_state_dict(start)\n" + ROUND),
        Snippet("a copy", HEAD + "first = network()\n" + FOLDS + "    net = copy.deepcopy(first)\n" + ROUND),
        Snippet("layers are drawn again", HEAD + "net = network()\n" + FOLDS + "    for layer in net:\n        if hasattr(layer, 'reset_parameters'):\n            layer.reset_parameters()\n" + ROUND),
        Snippet("one split only", HEAD + "net = network()\ntr, te = next(KFold(5).split(X))\nif True:\n" + ROUND),
        Snippet("nothing is scored in the loop", HEAD + "net = network()\n" + FOLDS + ROUND.partition("    net.eval")[0]),
    )  # fmt: skip
    BAD = (
        Snippet("before the loop", HEAD + "net = network()\n" + FOLDS + ROUND, line=9),
        Snippet("with numbers of folds", HEAD + "net = nn.Sequential(nn.Linear(8, 2))\nfor fold, (tr, te) in enumerate(KFold(5).split(X)):\n" + ROUND, line=11),
        Snippet("own folds", HEAD + "net = nn.Linear(8, 2)\nfolds = np.array_split(np.random.permutation(len(X)), 5)\nfor i, te in enumerate(folds):\n"
                "    tr = np.concatenate([part for j, part in enumerate(folds) if j != i])\n" + ROUND, line=11),
        Snippet("each person once", HEAD + "person = np.load('person.npy')\nnet = nn.Linear(8, 2)\nfor one in np.unique(person):\n    tr, te = person != one, person == one\n" + ROUND, line=12),
        Snippet("given to a function", HEAD + "def validate(net, folds):\n    for fold in range(5):\n        tr, te = folds[fold]\n" + "".join(f"    {line}\n" for line in ROUND.splitlines()), line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for loop in program.loops:
            if not _is_over_folds(loop):
                continue
            events = list(loop.body.events())
            if not any(is_backward(event) for event in events):
                continue
            here = set(_made_in(events))
            for model in _trained(events):
                outside = id(model) not in here and not _is_from(model, loop)
                if outside and _is_judged(events, model) and not _is_made_anew(events, model):
                    node = loop.node if isinstance(model, Param) else model.node
                    yield self.finding(program, node, see=[("The loop over the folds.", loop.node)])
                    break


def _made_in(events: list[Event]) -> Iterator[int]:
    """What calls make there, by identity; what a call only gives back was there before."""
    for event in events:
        yield id(event.value)
        if event.call is not None and isinstance(resolved(event.call.function), Class):
            yield id(event.call.result)


def _is_over_folds(loop: Loop) -> bool:
    """`for tr, te in KFold(5).split(X)`, `for fold in …`, or a loop in which one part is left out: `j != i`."""
    if not isinstance(loop.node, ast.For) or loop.iterable is None:
        return False
    names = {part.id for part in ast.walk(loop.node.target) if isinstance(part, ast.Name)}
    if folds_of(loop.iterable) is not None or any(map(_FOLD.search, names)):
        return True
    return any(_leaves_out(part, names) for part in ast.walk(loop.node))


def _leaves_out(part: ast.AST, names: set[str]) -> bool:
    if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], ast.NotEq):
        return False
    sides = [part.left, *part.comparators]
    is_loop = any(isinstance(side, ast.Name) and side.id in names for side in sides)
    return is_loop and not any(isinstance(side, ast.Constant) for side in sides)


def _trained(events: list[Event]) -> Iterator[Value]:
    """The models whose losses are propagated back, each once; where one is made of others the whole."""
    seen: set[int] = set()
    for event in events:
        if not is_backward(event):
            continue
        for value in walk(loss_of(event)):
            model = bare(value.function) if isinstance(value, Call) else None
            if model is None or id(model) in seen or not (is_module(model) or role(model) == MODEL):
                continue
            seen.add(id(model))
            if isinstance(model, Instance | Call | Param) and not _is_loss(model):
                yield model


def _is_loss(model: Value) -> bool:
    return isinstance(model, Call) and model.qualified.endswith("Loss")


def _is_from(model: Value, loop: Loop) -> bool:
    """One of several models that the loop runs over: `for net, fold in zip(nets, folds)`."""
    return any(isinstance(part, Element | Item) for part in walk(model))


def _is_judged(events: list[Event], model: Value) -> bool:
    return any(
        isinstance(event, CallEvent) and bare(event.call.function) is model and grad_is_off(event)
        for event in events
    )


def _is_made_anew(events: list[Event], model: Value) -> bool:
    """Is something called on the model, its layers or with it that may put back or draw its weights?"""
    for event in events:
        call = event.call
        if call is None:
            continue
        name = (
            call.method or call.qualified.rpartition(".")[2] or getattr(resolved(call.function), "name", "")
        )
        if name in ("apply", "copy_", "reset_parameters", "load_state_dict"):
            return True
        given = (call.receiver, *call.given)
        if _ANEW.search(name) and any(bare(value) is model for value in given):
            return True
    return False
