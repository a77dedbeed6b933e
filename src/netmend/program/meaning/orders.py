"""The order of samples in a data set: does it carry meaning, was it mixed before, are the labels class by class?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import made_shape, same_numbers
from netmend.program.meaning.loaders import image_set, label_of, samples_of, split_of
from netmend.program.meaning.operations import behind, walk

_MIXING = frozenset(
    ("permutation", "randperm", "shuffle", "train_test_split", "sample", "random_split", "choice", "resample", "make_classification")
)  # fmt: skip
_DRAWING = frozenset(
    ("rand", "randn", "randint", "normal", "uniform", "standard_normal", "random", "integers")
)


def order_is_plain(program: Program, dataset: Value | None) -> bool:
    """A dataset with an index whose order nobody mixed and whose order carries no meaning, as far as the text tells."""
    if image_set(dataset):
        return split_of(dataset) == "train" or image_set(dataset) == "ImageFolder"
    if isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.TensorDataset":
        tensors = samples_of(program, dataset) or ()
        return bool(tensors) and not _is_mixed(tensors, tensors[-1:])
    if isinstance(dataset, Instance):
        cls = dataset.cls
        if not cls.is_known or not cls.inherits("torch.utils.data.Dataset"):
            return False
        if cls.method("__iter__") is not None:
            return False
        getter = cls.method("__getitem__")
        if getter is None or not _uses_index(getter.definition) or _takes_windows(getter.definition):
            return False
        if cls.inherits("torch.utils.data.IterableDataset"):
            return False
        held = tuple(dataset.attributes.values())
        label = label_of(program, dataset)
        return not _is_mixed(held, (label,) if label is not None else held)
    return False


def _is_mixed(values: tuple[Value, ...], labels: tuple[Value, ...]) -> bool:
    """Does a permutation or a random split decide the order, or were the labels drawn at random one by one?"""
    names = {name for value in values for name in _called(value)}
    drawn = {name for value in labels for name in _called(value)}
    return bool(names & _MIXING) or bool(drawn & _DRAWING)


def _called(value: Value) -> Iterator[str]:
    for part in walk(value):
        if isinstance(part, Call):
            yield (part.qualified or part.method).rpartition(".")[2]


def fits_in_one_batch(dataset: Value | None, batch_size: int) -> bool:
    """Does one batch hold the whole dataset, as far as its length is written down?"""
    length: object = None
    if isinstance(dataset, Instance):
        method = dataset.cls.method("__len__")
        last = getattr(method.definition, "body", [None])[-1] if method is not None else None
        length = (
            last.value.value
            if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant)
            else None
        )
    elif isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.TensorDataset" and dataset.args:
        length = _rows(resolved(dataset.args[0]))
    return isinstance(length, int) and length <= batch_size


def _rows(tensor: Value) -> int | None:
    if not isinstance(tensor, Call):
        return None
    shape = made_shape(tensor)
    if shape is None and tensor.qualified.rpartition(".")[2].lower().endswith("tensor") and tensor.args:
        written = resolved(tensor.args[0])
        return len(written.items) if isinstance(written, Collection) and not written.open else None
    return shape.dims[0] if shape is not None and shape.dims else None


def _uses_index(getter: ast.AST) -> bool:
    """Does what `__getitem__` gives depend on which item is asked for?"""
    arguments = getattr(getter, "args", None)
    if arguments is None or len(arguments.args) < 2:
        return True
    index = arguments.args[1].arg
    return any(isinstance(part, ast.Name) and part.id == index for part in ast.walk(getter))


def _takes_windows(getter: ast.AST) -> bool:
    """Does `__getitem__` cut a slice that moves with the index?"""
    arguments = getattr(getter, "args", None)
    if arguments is None or len(arguments.args) < 2:
        return True
    index = arguments.args[1].arg
    for part in ast.walk(getter):
        if isinstance(part, ast.Slice) and part.lower is not None and part.upper is not None:
            names = {name.id for name in ast.walk(part) if isinstance(name, ast.Name)}
            if names and (index in names or len(names) > 1):
                return True
    return False


_JOINS = frozenset(("numpy.concatenate", "numpy.hstack", "torch.cat", "torch.concat", "torch.hstack"))
_FULL = frozenset(("numpy.full", "torch.full"))
_FILLED = frozenset(("numpy.ones", "torch.ones", "numpy.zeros", "torch.zeros"))
_SORTED_SETS = ("sklearn.datasets.load_iris", "sklearn.datasets.load_wine")
_RANGES = frozenset(("numpy.arange", "torch.arange", "range"))


def through_map(value: Value) -> Value:
    """The part that `a, b = map(torch.from_numpy, pair)` takes, and conversions, looked through."""
    return behind(same_numbers(value), lambda part: same_numbers(_mapped(part)))


def _mapped(value: Value) -> Value | None:
    made = resolved(value.base) if isinstance(value, Item) else None
    if not isinstance(value, Item) or not isinstance(made, Call) or made.qualified != "map":
        return None
    if len(made.args) != 2:
        return None
    pair, place = resolved(made.args[1]), constant(value.key)
    if not isinstance(pair, Collection) or pair.open or not isinstance(place, int):
        return None
    return pair.items[place] if place < len(pair.items) else None


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
