"""Stored samples: what a data set takes out of its store, and whether it still is the memory of the store."""

from __future__ import annotations

import ast

from netmend.library.operations import ARITHMETIC, AXES, COPIES, FLOATS, FROM_ARRAYS, TURNS
from netmend.program.engine.entries import Entry
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Either,
    Item,
    Operation,
    Param,
    Value,
    resolved,
)
from netmend.program.meaning.operations import operation

_SHARED = frozenset((*FROM_ARRAYS, *TURNS, *AXES, "view", "t"))
_ARRAYS = frozenset(
    (
        *FLOATS,
        *COPIES,
        *TURNS,
        *ARITHMETIC,
        "astype",
        "long",
        "to",
        "reshape",
        "view",
        "copy",
        "numpy",
        "unsqueeze",
        "clamp",
    )
)
_TENSORS = frozenset((*FLOATS, *COPIES, "long", "permute", "unsqueeze", "clamp", "cuda"))
CHANGES = frozenset(
    ("add_", "sub_", "mul_", "div_", "neg_", "pow_", "normal_", "uniform_", "random_", "bernoulli_", "sqrt_", "exp_", "log_")
)  # fmt: skip
FILLS = frozenset(("masked_fill_", "fill_", "zero_", "copy_", "index_fill_", "masked_scatter_", "fill"))


def is_dataset(entry: Entry) -> bool:
    cls = entry.owner.cls if entry.owner is not None else None
    return cls is not None and (cls.inherits("torch.utils.data.Dataset") or cls.method("__len__") is not None)


def sample_of(value: Value, entry: Entry) -> Item | None:
    """The `self.store[index]` that a value shares its memory with; None where it may be a copy or something else."""
    for _ in range(20):
        value = resolved(value)
        if isinstance(value, Item):
            if _is_of_store(value, entry):
                return value
            if not _is_basic(value.key):
                return None
            value = value.base
            continue
        op = operation(value)
        name = op.name if op is not None else getattr(value, "qualified", "").rpartition(".")[2]
        if not isinstance(value, Call) or not (name in _SHARED or name in CHANGES or name in FILLS):
            return None
        if value.receiver is None and not value.args:
            return None
        value = value.receiver if value.receiver is not None else value.args[0]
    return None


def _is_basic(key: Value) -> bool:
    """A number, a name or a slice: what it picks is no copy."""
    parts = key.items if isinstance(key, Collection) and key.kind == "tuple" else [key]
    return all(isinstance(part, Const) or getattr(part, "operator", "") == "slice" for part in parts)


def _is_of_store(item: Item, entry: Entry) -> bool:
    """`self.store[index]` with the index that `__getitem__` was given, of an array, a tensor or a list that is known as such."""
    key = resolved(item.key)
    if isinstance(key, Call) and key.qualified == "int" and len(key.args) == 1:
        key = resolved(key.args[0])
    node = item.node.value if isinstance(item.node, ast.Subscript) else None
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    if not isinstance(key, Param) or not is_own or entry.function is None:
        return False
    arguments = entry.function.definition.args.args
    return len(arguments) == 2 and arguments[1].arg == key.name and _is_array(item.base)


def _is_array(value: Value, depth: int = 6) -> bool:
    value = resolved(value)
    if depth == 0:
        return False
    if isinstance(value, Either):
        return all(_is_array(option, depth - 1) for option in value.options)
    if isinstance(value, Collection):
        return value.kind == "list"
    if isinstance(value, Operation):
        return value.operator in ("+", "-", "*", "/", "neg")
    if isinstance(value, Param):
        return value.annotation in ("numpy.ndarray", "torch.Tensor", "list")
    if isinstance(value, Item):
        source = resolved(value.base)
        is_split = isinstance(source, Call) and source.qualified.endswith(".train_test_split")
        return is_split or (_is_basic(value.key) and _is_array(source, depth - 1))
    if not isinstance(value, Call):
        return False
    name = value.qualified
    if name.startswith("numpy."):
        return (
            name not in ("numpy.memmap", "numpy.lib.format.open_memmap") and "mmap_mode" not in value.keywords
        )
    if name.startswith("torch."):
        return name.count(".") == 1 and name != "torch.load"
    return value.method in _ARRAYS


def is_tensor(value: Value) -> bool:
    """Is a store known to be a tensor? What is taken out of one is a view, a single number too."""
    value = resolved(value)
    if isinstance(value, Param):
        return value.annotation == "torch.Tensor"
    return isinstance(value, Call) and (value.qualified.startswith("torch.") or value.method in _TENSORS)


def has_copy(value: Value, depth: int = 6) -> bool:
    """Is a store known to be an array or a list, whose parts have `copy()`?"""
    value = resolved(value)
    if depth == 0:
        return False
    if isinstance(value, Collection):
        return value.kind == "list" and all(isinstance(resolved(item), Collection) for item in value.items)
    if isinstance(value, Operation):
        return any(has_copy(operand, depth - 1) for operand in value.operands)
    if isinstance(value, Param):
        return value.annotation == "numpy.ndarray"
    if not isinstance(value, Call):
        return False
    if value.qualified.startswith("numpy.") or value.method in ("astype", "numpy"):
        return True
    return value.receiver is not None and has_copy(value.receiver, depth - 1)
