from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.arguments import is_for_evaluation, is_for_labels, is_for_training, written_name
from netmend.program.meaning.arrays import SPLIT
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom sklearn.model_selection import train_test_split\n\n"


@register
class SplitUnpackedInWrongOrder(StaticRule):
    """The parts that `train_test_split` returns are stored under the wrong names.

    It returns both parts of the first array, then both parts of the second: inputs for training, inputs for test, labels for
    training, labels for test. In another order test inputs serve as labels, or the small part trains the network.

    Write `X_train, X_test, y_train, y_test = train_test_split(X, y)`.
    """

    code = "S514"
    cause = "VAL-SPLIT"
    message = "train_test_split(X, y) returns X_train, X_test, y_train, y_test in this order; these names do not match."
    triggers = ("train_test_split",)

    GOOD = (
        Snippet("the right order", HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("one array", HEAD + "train, test = train_test_split(rows)\n"),
        Snippet("other names", HEAD + "a, b, c, d = train_test_split(X, y)\n"),
        Snippet("labels first", HEAD + "y_train, y_test, X_train, X_test = train_test_split(y, X)\n"),
    )
    BAD = (
        Snippet("pairs expected", HEAD + "X_train, y_train, X_test, y_test = train_test_split(X, y, test_size=0.2)\n", line=4,
                fixed=HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)\n"),
        Snippet("test first", HEAD + "def load(x, y):\n    x_test, x_train, y_test, y_train = train_test_split(x, y)\n    return x_train, y_train\n",
                line=5, fixed=HEAD + "def load(x, y):\n    x_train, x_test, y_train, y_test = train_test_split(x, y)\n    return x_train, y_train\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(SPLIT):
            node = event.node
            above = program.parent(node)
            if not isinstance(node, ast.Call) or not isinstance(above, ast.Assign) or len(above.targets) != 1:
                continue
            target = above.targets[0]
            if len(node.args) != 2 or not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != 4:
                continue
            names = [written_name(part) for part in target.elts]
            if not all(names) or is_for_labels(written_name(node.args[0])):
                continue
            order = _order(names)
            if order is not None and order != [0, 1, 2, 3]:
                yield self.finding(program, target, fix=self._fix(program, target, order))

    def _fix(self, program: Program, target: ast.Tuple | ast.List, order: list[int]) -> Fix | None:
        texts = [program.source(target.elts[position]) for position in order]
        edits = [
            replace(program, part, text)
            for part, text in zip(target.elts, texts, strict=True)
            if program.source(part) != text
        ]
        return (
            Fix("Reorder the names", tuple(edit for group in edits for edit in group)) if all(edits) else None
        )


def _order(names: list[str]) -> list[int] | None:
    """Where inputs for training, inputs for test, labels for training, labels for test stand; None when unclear."""
    places: list[int] = []
    for labels in (False, True):
        for wanted in (is_for_training, is_for_evaluation):
            fitting = [
                index for index, name in enumerate(names) if wanted(name) and is_for_labels(name) == labels
            ]
            if len(fitting) != 1:
                return None
            places.append(fitting[0])
    return places
