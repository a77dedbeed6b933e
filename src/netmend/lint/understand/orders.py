"""The order of samples in a dataset: does it carry meaning, or was it mixed before?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Call, Instance, Value
from netmend.lint.understand.feeding import image_set, label_of, samples_of, split_of
from netmend.lint.understand.operations import walk

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
        if (
            not cls.is_known
            or not cls.inherits("torch.utils.data.Dataset")
            or cls.method("__iter__") is not None
        ):
            return False
        getter = cls.method("__getitem__")
        if (
            getter is None
            or _takes_windows(getter.definition)
            or cls.inherits("torch.utils.data.IterableDataset")
        ):
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
