from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.text.queries import inside

HEAD = "import torch\n\ndef batches(x, y, size):\n    order = torch.randperm(len(x))\n    x, y = x[order], y[order]\n"
LOOP = "    for start in range(0, len(x) - size, size):\n"
_DRAWS = ("randperm", "permutation")
_Sum = dict[str, int]


class LabelsShifted(StaticRule, code="S530", cause="HYP-BATCH-IMPL"):
    """A batch takes its labels from other rows than its inputs: `x[i : i + n]` with `y[i + 1 : i + n + 1]`.

    The rows were put into a random order together, so a neighbour's label has nothing to do with the input. The network can only
    learn the average; the loss stays at the level of guessing.

    Cut inputs and labels with the same bounds.
    """

    message = (
        "The labels are taken from other rows than the inputs (shifted by {0}); use the same bounds for both."
    )
    triggers = ("randperm(", "permutation(", "train_test_split(")
    patterns = (NOWHERE,)  # read from the text alone

    GOOD = (
        Snippet("the same bounds", HEAD + LOOP + "        yield x[start : start + size], y[start : start + size]\n"),
        Snippet("next word of one text", "import torch\n\nids = torch.randperm(100)\nfor i in range(0, 90, 10):\n    loss = step(text[i : i + 10], text[i + 1 : i + 11])\n"),
        Snippet("a pair of neighbours as a negative example", HEAD + "    for i in range(0, len(x) - 1):\n        yield x[i], x[i + 1], y[i], y[i + 1]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("generator", HEAD + LOOP + "        yield x[start : start + size], y[start + 1 : start + size + 1]\n", line=7),
        Snippet("loop with names", "import numpy as np\nimport torch\n\np = np.random.permutation(len(inputs))\ninputs = inputs[p]\ntargets = targets[p]\n"
                "for epoch in range(5):\n    for k in range(0, len(inputs), 32):\n        lo, hi = k, k + 32\n        xb = inputs[lo:hi]\n"
                "        yb = targets[lo - 1 : hi - 1]\n        train(xb, yb)\n", line=11),
        Snippet("the next batch", "import numpy as np\nimport torch\n\ndef batches(X, Y, size):\n    order = np.random.permutation(len(X))\n"
                "    for b in range(len(X) // size):\n        rows = order[b * size : (b + 1) * size]\n"
                "        after = order[(b + 1) * size : (b + 2) * size]\n        yield X[rows], Y[after]\n", line=9),
        Snippet("after a split", "import torch\nfrom sklearn.model_selection import train_test_split\n\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"
                "for i in range(0, len(X_train), 64):\n    out = net(X_train[i : i + 64])\n    loss = torch.nn.functional.cross_entropy(out, y_train[i + 1 : i + 65])\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for scope in _scopes(program.tree):
            pairs = set(_mixed_together(scope))
            for loop in (node for node in _own(scope) if isinstance(node, ast.For | ast.While)):
                cuts = list(_cuts(loop, _assigned(loop)))
                counters = _counters(loop)
                for one, other in pairs or _by_order(scope, cuts):
                    found = _shifted(cuts, one, other, counters)
                    if found is not None:
                        yield self.finding(program, found[0], self.message.format(found[1]))


@dataclass(frozen=True)
class _Cut:
    """Rows that are taken in a loop: of which array, through which order, from which row on."""

    array: str
    order: str
    start: tuple[tuple[str, int], ...]
    node: ast.Subscript


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    return inside(tree, ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of functions and classes inside, in order."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield node
            yield from _own(node)


def _assignments(scope: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in _own(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                if len(target.elts) == len(value.elts):
                    yield from zip(target.elts, value.elts, strict=True)
            else:
                yield target, value


def _called(node: ast.AST) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""


def _orders(scope: ast.AST) -> set[str]:
    """Names of permutations of all rows."""
    found = set()
    for target, value in _assignments(scope):
        is_drawn = _called(value) in _DRAWS and isinstance(value, ast.Call) and len(value.args) == 1
        if is_drawn and isinstance(value, ast.Call) and not isinstance(value.args[0], ast.BinOp):
            found.add(ast.unparse(target))
    return found


def _mixed_together(scope: ast.AST) -> Iterator[tuple[str, str]]:
    """Pairs of arrays whose rows were put into one random order."""
    orders = _orders(scope)
    mixed: dict[str, list[str]] = {}
    for target, value in _assignments(scope):
        if isinstance(value, ast.Subscript) and ast.unparse(value.slice) in orders:
            mixed.setdefault(ast.unparse(value.slice), []).append(ast.unparse(target))
        if (
            _called(value) == "train_test_split"
            and isinstance(value, ast.Call)
            and isinstance(target, ast.Tuple)
        ):
            names = [ast.unparse(part) for part in target.elts]
            if (
                len(names) == 4
                and len(value.args) == 2
                and not any(k.arg == "shuffle" for k in value.keywords)
            ):
                yield names[0], names[2]
    for names in mixed.values():
        if len(names) == 2 and names[0] != names[1]:
            yield names[0], names[1]


def _by_order(scope: ast.AST, cuts: list[_Cut]) -> set[tuple[str, str]]:
    """Arrays that are both read through pieces of one permutation."""
    orders = _orders(scope)
    names = list(dict.fromkeys(cut.array for cut in cuts if cut.order in orders))
    return {(names[0], names[1])} if len(names) == 2 else set()


def _assigned(loop: ast.AST) -> dict[str, ast.expr]:
    """Names that are stored once in a loop."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for target, value in _assignments(loop):
        name = ast.unparse(target)
        if name in found:
            twice.add(name)
        found[name] = value
    for node in _own(loop):
        if isinstance(node, ast.AugAssign):
            twice.add(ast.unparse(node.target))
    return {name: value for name, value in found.items() if name not in twice}


def _cuts(loop: ast.AST, known: dict[str, ast.expr]) -> Iterator[_Cut]:
    for node in _own(loop):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        order, key = "", _looked_up(node.slice, known)
        if isinstance(key, ast.Subscript):
            order, key = ast.unparse(key.value), key.slice
        if isinstance(key, ast.Slice):
            if key.step is not None or key.lower is None or key.upper is None:
                continue
            key = key.lower
        total = _sum(key, known, 0)
        if total is not None:
            start = tuple(sorted((name, count) for name, count in total.items() if count))
            yield _Cut(ast.unparse(node.value), order, start, node)


def _counters(loop: ast.AST) -> set[str]:
    """Names that a loop, or one inside it, counts with."""
    targets = [node.target for node in (loop, *_own(loop)) if isinstance(node, ast.For)]
    return {part.id for target in targets for part in inside(target, ast.Name)}


def _looked_up(key: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    """The piece of a permutation behind a name: `rows = order[a:b]`."""
    piece = known.get(key.id) if isinstance(key, ast.Name) else None
    return piece if isinstance(piece, ast.Subscript) else key


def _sum(node: ast.AST, known: dict[str, ast.expr], depth: int) -> _Sum | None:
    """A bound as a sum of names with whole factors; the constant stands under ""."""
    if depth > 6:
        return None
    if isinstance(node, ast.Constant):
        return {"": node.value} if isinstance(node.value, int) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        one, other = _sum(node.left, known, depth + 1), _sum(node.right, known, depth + 1)
        if one is None or other is None:
            return None
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return {name: one.get(name, 0) + sign * other.get(name, 0) for name in {*one, *other}}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        product = _product(node, known, depth)
        if product is not None:
            return product
    name = ast.unparse(node)
    if name in known and not isinstance(node, ast.Constant):
        inner = _sum(known[name], known, depth + 1)
        return inner if inner is not None else {name: 1}
    return {name: 1} if isinstance(node, ast.Name | ast.Attribute | ast.BinOp) else None


def _product(node: ast.BinOp, known: dict[str, ast.expr], depth: int) -> _Sum | None:
    """`(b + 1) * size` as `b * size + size`."""
    one, other = _sum(node.left, known, depth + 1), _sum(node.right, known, depth + 1)
    if one is None or other is None:
        return None
    found: _Sum = {}
    for left, factor in one.items():
        for right, times in other.items():
            name = " * ".join(sorted(part for part in (left, right) if part))
            found[name] = found.get(name, 0) + factor * times
    return found


def _shifted(cuts: list[_Cut], one: str, other: str, counters: set[str]) -> tuple[ast.AST, str] | None:
    """The labels' cut and by how much it is off, where each array is cut in one way only."""
    inputs = {(cut.order, cut.start) for cut in cuts if cut.array == one}
    labels = [cut for cut in cuts if cut.array == other]
    if len(inputs) != 1 or len({(cut.order, cut.start) for cut in labels}) != 1:
        return None
    order, start = inputs.pop()
    found = labels[0]
    shift = dict(found.start)
    for name, count in start:
        shift[name] = shift.get(name, 0) - count
    shift = {name: count for name, count in shift.items() if count}
    used = {word for name in shift for word in name.split(" * ")}
    if found.order != order or len(shift) != 1 or used & counters or not _moves(start, counters):
        return None
    name, count = next(iter(shift.items()))
    words = name if count == 1 else f"{count} * {name}"
    return found.node, words if name else str(count)


def _moves(start: tuple[tuple[str, int], ...], counters: set[str]) -> bool:
    return any(set(name.split(" * ")) & counters for name, _ in start)
