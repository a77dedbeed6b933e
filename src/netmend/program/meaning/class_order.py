"""Labels that are built class by class, so that their order is the order of the classes."""

from __future__ import annotations

import ast

from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers

_JOINS = frozenset(("numpy.concatenate", "numpy.hstack", "torch.cat", "torch.concat", "torch.hstack"))
_FULL = frozenset(("numpy.full", "torch.full"))
_FILLED = frozenset(("numpy.ones", "torch.ones", "numpy.zeros", "torch.zeros"))
_SORTED_SETS = ("sklearn.datasets.load_iris", "sklearn.datasets.load_wine")
_RANGES = frozenset(("numpy.arange", "torch.arange", "range"))


def through_map(value: Value) -> Value:
    """The part that `a, b = map(torch.from_numpy, pair)` takes, and conversions, looked through."""
    for _ in range(6):
        value = same_numbers(value)
        if not isinstance(value, Item):
            return value
        made = resolved(value.base)
        if not isinstance(made, Call) or made.qualified != "map" or len(made.args) != 2:
            return value
        pair, place = resolved(made.args[1]), constant(value.key)
        if not isinstance(pair, Collection) or pair.open or not isinstance(place, int):
            return value
        if place >= len(pair.items):
            return value
        value = pair.items[place]
    return value


def is_class_by_class(program: Program, labels: Value) -> bool:
    """Are the labels one class after the other, and is nothing shuffled in place?"""
    value = through_map(labels)
    if _is_shuffled(program, value):
        return False
    if _is_of_sorted_set(value):
        return True
    if isinstance(value, Call):
        if value.qualified in _JOINS and value.args:
            listed = resolved(value.args[0])
            return isinstance(listed, Collection) and _is_grown(program, listed)
        return _is_repeated(value)
    return isinstance(value, Collection) and _is_grown(program, value)


def _is_of_sorted_set(value: Value) -> bool:
    """The labels of a data set that scikit-learn gives class by class."""
    if isinstance(value, Attribute):
        base, name = resolved(value.base), value.name
    elif isinstance(value, Item):
        base, name = resolved(value.base), constant(value.key)
    else:
        return False
    return isinstance(base, Call) and base.qualified in _SORTED_SETS and name in ("target", 1)


def _is_shuffled(program: Program, value: Value) -> bool:
    for event in program.calls:
        call = event.call
        if not (call.method == "shuffle" or call.qualified.endswith(".shuffle")):
            continue
        if any(through_map(argument) is value for argument in call.args):
            return True
    return False


def _is_grown(program: Program, listed: Collection) -> bool:
    """A list that a loop over the classes adds to, or a comprehension over them: each time many of one class."""
    if listed.items:
        return (listed.open or listed.repeated) and all(_is_one_class(item) for item in listed.items)
    return listed.open and _is_written_so(program, listed)


def _is_written_so(program: Program, listed: Collection) -> bool:
    """Is everything that is added to a list in its function `labels += [label] * n`, in a loop over the labels?"""
    node = listed.node
    if node is None:
        return False
    chain = list(program.above(node))
    scope = next((part for part in chain if isinstance(part, ast.FunctionDef | ast.Module)), None)
    stored = next((part for part in chain if isinstance(part, ast.Assign)), None)
    name = _target(stored, node) if stored is not None else ""
    if scope is None or not name:
        return False
    added = [
        part
        for part in ast.walk(scope)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id == name
    ]
    return bool(added) and all(_adds_one_class(program, part) for part in added)


def _target(stored: ast.Assign, node: ast.AST) -> str:
    """The variable that a list is stored in, also as one of several."""
    target: ast.expr = stored.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(stored.value, ast.Tuple):
        pairs = zip(target.elts, stored.value.elts, strict=False)
        target = next((one for one, other in pairs if other is node), target)
    return target.id if isinstance(target, ast.Name) else ""


def _is_one_class(value: Value) -> bool:
    """`np.full(n, label)`, `np.ones(n) * label`, `[label] * n` with the label from the loop's own counter."""
    value = same_numbers(value)
    if isinstance(value, Call) and value.qualified in _FULL:
        return _is_counter(value.argument("fill_value", 1))
    if isinstance(value, Operation) and value.operator in ("*", "+") and len(value.operands) == 2:
        left, right = (same_numbers(part) for part in value.operands)
        for filled, label in ((left, right), (right, left)):
            if isinstance(filled, Call) and filled.qualified in _FILLED and _is_counter(label):
                return True
        if isinstance(left, Collection) and len(left.items) == 1 and not left.open:
            return value.operator == "*" and _is_counter(left.items[0])
    return False


def _is_counter(value: Value | None) -> bool:
    """The element of a `range`, or the number that `enumerate` gives: it grows from round to round."""
    value = resolved(value)
    if isinstance(value, Item) and constant(value.key) == 0:
        value = resolved(value.base)
    if not isinstance(value, Element):
        return False
    source = resolved(value.iterable)
    return isinstance(source, Call) and source.qualified in ("range", "enumerate")


def _adds_one_class(program: Program, node: ast.AugAssign) -> bool:
    """`labels += [label] * n` where the outermost loop runs over the labels: inner ones would repeat them."""
    value = node.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return False
    listed = value.left
    if not isinstance(listed, ast.List) or len(listed.elts) != 1 or not isinstance(listed.elts[0], ast.Name):
        return False
    loops = []
    for part in program.above(node):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.While):
            break
        if isinstance(part, ast.For):
            loops.append(part)
    return bool(loops) and _counts(loops[-1], listed.elts[0].id)


def _counts(node: ast.For, name: str) -> bool:
    """`for name in range(…)` or `for name, other in enumerate(…)`."""
    called = getattr(node.iter.func, "id", "") if isinstance(node.iter, ast.Call) else ""
    target: ast.expr = node.target
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    return called in ("range", "enumerate") and isinstance(target, ast.Name) and target.id == name


def _is_repeated(value: Call) -> bool:
    """`np.repeat(np.arange(k), n)`, `torch.arange(k).repeat_interleave(n)`."""
    source: Value | None = None
    if value.qualified in ("numpy.repeat", "torch.repeat_interleave") and len(value.args) == 2:
        source = value.args[0]
    elif value.method in ("repeat_interleave",) and value.args:
        source = value.receiver
    source = same_numbers(source) if source is not None else None
    return isinstance(source, Call) and source.qualified in _RANGES
