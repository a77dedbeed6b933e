"""Recommendations that are ranked together with what the user has had already."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Operation, Value, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.rows import columns_stored
from netmend.program.meaning.scores import MASKED
from netmend.program.meaning.training import is_backward

MODEL = """\
import random
import torch

class MF(torch.nn.Module):
    def __init__(self, users, items):
        super().__init__()
        self.u, self.i = torch.nn.Embedding(users, 16), torch.nn.Embedding(items, 16)

    def all_scores(self, u):
        return self.u(u) @ self.i.weight.T

"""
RECALL = """\
def recall(model, train, test, k=10):
    hits = 0
    with torch.no_grad():
        for u, wanted in test.items():
            scores = model.all_scores(torch.tensor([u]))[0]
{0}            top = scores.topk(k).indices.tolist()
            hits += len(set(top) & set(wanted)) / len(wanted)
    return hits / len(test)

model = MF(100, 500)
print(recall(model, seen, held_out))
"""
_TAKES_OUT = frozenset(
    (
        *MASKED,
        "scatter_",
        "scatter",
        "index_fill_",
        "index_fill",
        "index_put_",
        "difference",
        "setdiff1d",
        "isin",
        "put_along_axis",
    )
)
_TRAINING = re.compile(
    r"train|seen|known|history|exclude|interact|positives|watched|bought|user_items", re.IGNORECASE
)


class SeenItemsRanked(StaticRule, code="S958", cause="VAL-METRIC"):
    """The best of all items are compared with the held-out ones, and the items of the training part are still among them.

    A network that was trained to rank these items first puts them into the top places, where they can never be hits. The recall is
    far too low, and says more about how well the training part is remembered.

    Put the scores of a user's training items out of reach before ranking: `scores[train[user]] = float("-inf")`.
    """

    message = "The items that the user had in training are still ranked here and can never be hits; put them out of reach before: scores[train[user]] = float('-inf')."
    triggers = ("topk(", "argsort(", "argpartition(")
    needs = "Embedding"
    patterns = (r"topk\(|argsort\(|argpartition\(",)

    GOOD = (
        Snippet("out of reach", MODEL + RECALL.format("            scores[train[u]] = -float('inf')\n")),
        Snippet("masked", MODEL + RECALL.format("            scores = scores.masked_fill(train[u], -1e9)\n")),
        Snippet(
            "left out behind",
            MODEL
            + RECALL.format("").replace(
                "tolist()\n", "tolist()\n            top = [i for i in top if i not in train[u]]\n"
            ),
        ),
        Snippet(
            "nothing is known of the training part",
            MODEL
            + RECALL.format("")
            .replace("model, train, test", "model, test")
            .replace("model, seen, held", "model, held"),
        ),
    )
    BAD = (
        Snippet("given and not used", MODEL + RECALL.format(""), line=17),
        Snippet("other items were drawn against the own ones", MODEL + "def pairs(train):\n    for u, items in train.items():\n        for i in items:\n            j = random.randrange(500)\n"
                "            while j in items:\n                j = random.randrange(500)\n            yield u, i, j\n\n"
                + RECALL.format("").replace("model, train, test", "model, test").replace("model, seen, held", "model, held"), line=25),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of("topk", "argsort"):
            yield from self._ranked(program, event, event.call.receiver)
        for event in program.calls_of("torch.topk", "torch.argsort", "numpy.argsort", "numpy.argpartition"):
            yield from self._ranked(program, event, next(iter(event.call.args), None))

    def _ranked(self, program: Program, event: CallEvent, scores: Value | None) -> Findings:
        if scores is None or not any(_is_over_all_items(part) for part in walk(scores)):
            return
        loop = event.loop
        if loop is not None and any(is_backward(each) for each in loop.events()):
            return
        between = walk(scores, into=lambda part: not _is_over_all_items(part))
        if any(_takes_out(program, part) for part in between):
            return
        function = program.function(event.node)
        around = function if function is not None else program.tree
        if (
            _is_compared(around)
            and not _is_filtered(around)
            and (_unused_parameter(function) or _draws_others(program.tree))
        ):
            yield self.finding(program, event.node)


def _is_over_all_items(value: Value) -> bool:
    """`user @ items.weight.T`: a score for every item there is."""
    sides: tuple[Value, ...] = ()
    if isinstance(value, Operation) and value.operator == "@":
        sides = value.operands
    elif isinstance(value, Call) and (value.method or value.qualified).rpartition(".")[2] in (
        "matmul",
        "mm",
        "linear",
        "einsum",
    ):
        sides = (*value.args, *((value.receiver,) if value.method and value.receiver is not None else ()))
    return any(_is_table(side) for side in sides)


def _is_table(value: Value) -> bool:
    for part in walk(
        value,
        into=lambda each: (
            isinstance(each, Attribute)
            or (isinstance(each, Call) and each.method in ("t", "transpose", "detach"))
        ),
    ):
        if isinstance(part, Attribute) and part.name == "weight":
            made = resolved(part.base)
            return isinstance(made, Call) and made.qualified in (
                "torch.nn.Embedding",
                "torch.nn.EmbeddingBag",
            )
    return False


def _takes_out(program: Program, value: Value) -> bool:
    name = (value.method or value.qualified).rpartition(".")[2] if isinstance(value, Call) else ""
    return name in _TAKES_OUT or bool(columns_stored(program, value))


def _is_compared(tree: ast.AST) -> bool:
    """Are what was ranked and what was held out compared as sets, or place by place?"""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            return True
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.Eq):
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
            "intersection",
            "intersect1d",
            "isin",
            "in1d",
            "eq",
        ):
            return True
    return False


def _is_filtered(tree: ast.AST) -> bool:
    """`if item not in train[user]`, `set(top) - seen`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn):
            return True
        sides = (
            (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else ()
        )
        if any(isinstance(side, ast.Call) and getattr(side.func, "id", "") == "set" for side in sides):
            return True
        if isinstance(node, ast.If) and any(isinstance(inner, ast.Continue) for inner in node.body):
            return True
    return False


def _unused_parameter(function: ast.AST | None) -> bool:
    """Is the function given what was trained on without asking for it anywhere?"""
    if not isinstance(function, ast.FunctionDef):
        return False
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return any(_TRAINING.search(each.arg) and each.arg not in used for each in function.args.args)


def _draws_others(tree: ast.AST) -> bool:
    """`while item in own: item = random…`: items that were not had are drawn against those that were."""
    return any(_rejects(node) for node in ast.walk(tree) if isinstance(node, ast.While))


def _rejects(node: ast.While) -> bool:
    is_in = isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.In)
    return is_in and any("rand" in name or "choice" in name for name in _called(node))


def _called(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield getattr(part.func, "attr", "") or getattr(part.func, "id", "")
