"""The order of samples in a dataset: does it carry meaning, or was it mixed before?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Instance, Value, resolved
from netmend.program.meaning.loaders_of_models import image_set, label_of, samples_of, split_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.samples import made_shape

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
            or not _uses_index(getter.definition)
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
