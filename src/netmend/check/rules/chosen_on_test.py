"""Answers that the truth they are scored against has had a part in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Branch, Loop, StoreEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Name,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import parts_of, reached, walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.rows import columns_stored, made_of
from netmend.program.meaning.scores import Scored, scored
from netmend.program.meaning.statements import argument_node
from netmend.program.meaning.training import is_backward
from netmend.program.text.queries import names_in

HEAD = """\
import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score, precision_recall_curve, roc_curve
net = torch.nn.Linear(8, 1)
x_dev, y_dev, x_test, y_test = torch.load("data.pt")

def scores(x):
    with torch.no_grad():
        return torch.sigmoid(net(x)).numpy()

def best_cut(p, y):
    grid = np.arange(0.1, 0.9, 0.05)
    return grid[np.argmax([f1_score(y, p > t) for t in grid])]

"""
_TEST = re.compile(r"(^|_)(test|final|holdout|held|te|tst|unseen|[xy]te)(_|\d|$)|test$", re.IGNORECASE)
_VALIDATION = re.compile(
    r"(^|_)(val|valid|validation|dev|cal|calib|calibration|tune|tuning|train|tr)(_|\d|$)|(val|valid|dev|train)$",
    re.IGNORECASE,
)
_CHOOSING = frozenset(
    ("argmax", "nanargmax", "argmin", "nanargmin", "index", "idxmax", "idxmin", "searchsorted", "max", "min")
)
_ALIGNING = frozenset(("linear_sum_assignment", "mode", "bincount", "contingency_matrix"))


class ChosenOnScoredRows(StaticRule, code="S956", cause="VAL-TEST-LEAK"):
    """A threshold, calibration or choice is made with the truth of the very rows that the score is taken from.

    The best cut-off on the test part is the one that fits its accidents; with rare classes and many thresholds the score is far above
    what the same network reaches on new rows.

    Choose on the validation part, and apply what was chosen to the test part.
    """

    message = "What decides here is chosen with `{0}`, the truth that the score is then taken against; choose it on the validation part."
    triggers = ("_score(", "_curve(", "best", "argmax", "fit(")
    patterns = (r"\w_score\(|\bbest\w*\b",)

    GOOD = (
        Snippet("on the development part", HEAD + "cut = best_cut(scores(x_dev), y_dev)\nprint(f1_score(y_test, scores(x_test) > cut))\n"),
        Snippet("what was chosen, on its own rows too", HEAD + "cut = best_cut(scores(x_dev), y_dev)\nprint(f1_score(y_dev, scores(x_dev) > cut), f1_score(y_test, scores(x_test) > cut))\n"),
        Snippet("known rows only", HEAD + "p = scores(x_test)\nkeep = y_test != -1\nprint(f1_score(y_test[keep], p[keep] > 0.5))\n"),
        Snippet("a curve to look at", HEAD + "p = scores(x_test)\nprint(roc_curve(y_test, p), f1_score(y_test, p > 0.5))\n"),
        Snippet("the truth is an input", HEAD + "print(f1_score(y_test, net(torch.cat([x_test, y_test])) > 0.5))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("on the test part", HEAD + "p = scores(x_test)\ncut = best_cut(p, y_test)\nprint(f1_score(y_test, p > cut))\n", line=16),
        Snippet("the best point of a curve", HEAD + "p = scores(x_test)\nfpr, tpr, cuts = roc_curve(y_test, p)\ncut = cuts[np.argmax(tpr - fpr)]\nprint(accuracy_score(y_test, p > cut))\n", line=16),
        Snippet("in a loop", HEAD + "p, best, cut = scores(x_test), 0, 0.5\nfor t in np.linspace(0, 1, 50):\n    f = f1_score(y_test, p > t)\n    if f > best:\n        best, cut = f, t\n"
                "print(accuracy_score(y_test, p > cut))\n", line=17),
        Snippet("a threshold for each class", HEAD + "p = scores(x_test)\ncuts = np.zeros(4)\nfor j in range(4):\n    tried = [f1_score(y_test[:, j], p[:, j] > t) for t in (0.2, 0.5, 0.8)]\n"
                "    cuts[j] = (0.2, 0.5, 0.8)[np.argmax(tried)]\nprint(f1_score(y_test, p > cuts, average='macro'))\n", line=18),
        Snippet("the best of many, by hand", HEAD.replace("y_test =", "yte =") + "p = torch.tensor(scores(x_test))\nbest, cut = 0, 0.5\nfor t in torch.linspace(0, 1, 20):\n    accuracy = ((p > t) == yte).float().mean()\n"
                "    if accuracy > best:\n        best, cut = accuracy, t\nprint(best, cut)\n", line=19),
        Snippet("calibrated on the test part", HEAD + "from sklearn.linear_model import LogisticRegression\np = scores(x_test)\nfixed = LogisticRegression().fit(p, y_test).predict(p)\nprint(accuracy_score(y_test, fixed))\n", line=17),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = scored(program)
        told: set[int] = set()
        for score in known:
            truth = same_numbers(score.truth)
            if isinstance(truth, Const | Unknown | Name):
                continue
            names = _names(score)
            if any(map(_VALIDATION.search, names)):
                continue
            is_test = any(map(_TEST.search, names))
            if not is_test and any(
                other.event.order > score.event.order and same_numbers(other.truth) is not truth
                for other in known
            ):
                continue
            asked = _asks(program, score, truth)
            if asked is not None:
                told.add(id(asked))
                name = next(iter(names), "y")
                yield self.finding(
                    program,
                    asked.node,
                    self.message.format(name),
                    see=[("The score is taken here.", score.event.node)],
                )

        yield from self._best_of_many(program, told)

    def _best_of_many(self, program: Program, told: set[int]) -> Findings:
        """`if accuracy > best: best, cut = accuracy, t` over numbers that are written out, with the truth of the test part."""
        for loop in program.loops:
            if loop.iterable is None or not _is_grid(resolved(loop.iterable)):
                continue
            events = list(loop.body.events())
            if any(is_backward(event) for event in events):
                continue
            for part in loop.parts():
                if not isinstance(part, Branch) or not isinstance(part.test, Operation):
                    continue
                if part.test.operator not in (">", "<", ">=", "<=") or not _keeps_element(part, loop):
                    continue
                if any(id(value) in told for value in walk(part.test)):
                    continue
                names = set(_compared_names(program, part.test))
                if any(map(_TEST.search, names)) and not any(map(_VALIDATION.search, names)):
                    name = next(name for name in sorted(names) if _TEST.search(name))
                    yield self.finding(program, part.node, self.message.format(name))


def _is_grid(source: Value) -> bool:
    """Numbers to be tried: `np.arange(0, 1, 0.05)`, `torch.linspace(…)`, `(0.2, 0.5, 0.8)`."""
    if isinstance(source, Call):
        name = source.qualified.rpartition(".")[2]
        return name in ("arange", "linspace", "logspace", "geomspace") or (
            name in ("range",) and all(isinstance(resolved(value), Const) for value in source.args)
        )
    return (
        isinstance(source, Collection)
        and len(source.items) > 1
        and all(isinstance(constant(item), float) for item in source.items)
    )


def _keeps_element(branch: Branch, loop: Loop) -> bool:
    """Is the number that was tried kept?"""
    source = resolved(loop.iterable)
    return any(
        isinstance(event, StoreEvent)
        and any(isinstance(part, Element) and resolved(part.iterable) is source for part in walk(event.value))
        for event in branch.blocks[0].events()
    )


def _compared_names(program: Program, test: Operation) -> Iterator[str]:
    """The names that are written in the comparisons and metrics that a test is computed from."""
    for part in walk(test):
        is_score = isinstance(part, Operation) and part.operator == "==" and part is not test
        is_metric = isinstance(part, Call) and part.qualified.startswith("sklearn.metrics.")
        if (is_score or is_metric) and part.node is not None:
            yield from names_in(part.node)


def _names(score: Scored) -> list[str]:
    node = argument_node(score.event.call.node, "y_true", 0)
    return list(names_in(node)) if node is not None else []


def _asks(program: Program, score: Scored, truth: Value) -> Call | None:
    """The nearest call behind the answers that is given the truth itself; what a model computes is not looked into."""
    choices = _choices(program)
    own = {id(loop) for loop in score.event.loops()}

    def parts(value: Value) -> Iterator[Value]:
        if isinstance(value, Call) and (_is_model(value) or _aligns(value)):
            return
        if isinstance(value, Item):
            yield value.base
            if _is_chosen(value.key):
                yield value.key
        else:
            yield from parts_of(value)
        for event in columns_stored(program, value):
            if event.order < score.event.order:
                yield event.value
        for loop, test in choices.get(id(value), ()):
            if id(loop) not in own:
                yield test

    for value in reached(score.answer, parts):
        if isinstance(value, Call) and _aligns(value):
            return None
        if (
            isinstance(value, Call)
            and value.node is not None
            and any(_is_truth(argument, truth) for argument in value.given)
        ):
            is_metric = value.qualified.startswith("sklearn.") or value.method in (
                "fit",
                "fit_transform",
                "score",
            )
            if is_metric or value.result is not None:
                return value if _is_scoring(program, value) else None
    return None


def _is_truth(value: Value, truth: Value) -> bool:
    value = same_numbers(value)
    while isinstance(value, Item):
        if value is truth:
            return True
        value = same_numbers(value.base)
    return value is truth


def _is_scoring(program: Program, value: Call) -> bool:
    """Does a call look at how answers agree with the truth, or fit something to it?"""
    for part in made_of(program, value):
        if isinstance(part, Call) and (
            part.qualified.startswith("sklearn.") or part.method in ("fit", "fit_transform", "score")
        ):
            return True
    return False


def _is_model(call: Call) -> bool:
    return is_module(call.function) or role(call.function) == MODEL


def _aligns(call: Call) -> bool:
    """Clusters have no names: which is which may be asked of the truth."""
    return (call.method or call.qualified).rpartition(".")[2] in _ALIGNING


def _is_chosen(key: Value) -> bool:
    """`grid[np.argmax(scores)]`, not rows that a mask picks."""
    return any(
        isinstance(part, Call) and (part.method or part.qualified).rpartition(".")[2] in _CHOOSING
        for part in walk(key)
    )


@once
def _choices(program: Program) -> dict[int, list[tuple[Loop, Value]]]:
    """Values that are kept because a comparison in a loop was better, with the comparison: `if f > best: cut = t`."""
    found: dict[int, list[tuple[Loop, Value]]] = {}
    for event in program.stores:
        if not event.target.name or isinstance(resolved(event.value), Const):
            continue
        branch = next((part for part in event.around() if isinstance(part, Branch | Loop)), None)
        loop = event.loop
        test = branch.test if isinstance(branch, Branch) else None
        if loop is not None and isinstance(test, Operation) and test.operator in (">", "<", ">=", "<="):
            found.setdefault(id(event.value), []).append((loop, test))
    return found
