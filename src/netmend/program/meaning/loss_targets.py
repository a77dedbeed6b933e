"""What a target is: class ids and how many classes there are, one-hot rows, whole or real numbers."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.library.datasets import CLASSES
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import part_of_samples, split_from
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.operations import LAYOUT, operation, walk

# Classes of well-known datasets whose second item is a class id.
_TABLES = {"load_iris": 3, "load_digits": 10, "load_wine": 3, "load_breast_cancer": 2}
_THROUGH = LAYOUT | {"long", "int", "tensor", "as_tensor", "from_numpy", "astype", "detach", "numpy", "cpu"}
_REAL = ("float", "double", "half", "bfloat16")
_REAL_TYPES = ("torch.float", "torch.double", "torch.half", "numpy.float")
_WHOLE_TYPES = ("torch.long", "torch.int", "numpy.int", "torch.uint8", "torch.bool", "numpy.uint8")


@dataclass(frozen=True)
class ClassIds:
    """A target of class ids. `count` is None where the number of classes is not known."""

    count: int | None
    source: Value  # the call that made them, or the dataset
    is_random: bool = False  # drawn by the program itself


def class_ids(program: Program, value: Value | None) -> ClassIds | None:
    """Proof that a target holds class ids, whatever its type by now; None without one."""
    for _ in range(40):
        value = resolved(value)
        if isinstance(value, Either):
            found = [class_ids(program, option) for option in value.options]
            return found[0] if all(ids is not None and ids == found[0] for ids in found) else None
        if isinstance(value, Item):
            part = part_of_batch(program, value)
            if part is not None:
                known = _of_dataset(part.dataset, part.position)
                if known is not None:
                    return known
                value = part.value
                continue
            table = _of_table(value)
            if table is not None:
                return table
            whole = split_from(value)
            if whole is not None:
                value = whole
                continue
            if _is_column(value):
                return None
            value = value.base
            continue
        if not isinstance(value, Call):
            return _of_table(value) if value is not None else None
        drawn = _drawn(value)
        if drawn is not None:
            return drawn
        if (
            value.qualified.startswith("numpy.")
            and value.args
            and value.qualified.rpartition(".")[2] in ("array", "asarray")
        ):
            value = value.args[0]
            continue
        if value.qualified in ("torch.LongTensor", "torch.FloatTensor", "torch.Tensor") and value.args:
            value = value.args[0]
            continue
        op = operation(value)
        if op is None or not op.inputs:
            return None
        if op.name == "argmax" and op.layer is None:
            return ClassIds(None, value)
        if op.name not in _THROUGH:
            return None
        value = op.inputs[0]
    return None


def _is_column(item: Item) -> bool:
    """`table[:, 3]` says nothing about the rest of the table."""
    return isinstance(item.key, Collection)


def _of_dataset(dataset: Value, position: int) -> ClassIds | None:
    if not isinstance(dataset, Call) or not dataset.qualified.startswith("torchvision.datasets."):
        return None
    if position != 1:
        return None
    count = CLASSES.get(dataset.qualified.rpartition(".")[2])
    return (
        ClassIds(count, dataset) if count is not None and "target_transform" not in dataset.keywords else None
    )


def _of_table(value: Value | None) -> ClassIds | None:
    """`load_iris(return_X_y=True)[1]`, `load_digits().target`."""
    if not isinstance(value, Attribute | Item) or part_of_samples(value) != 1:
        return None
    base = resolved(value.base)
    count = _TABLES.get(base.qualified.rpartition(".")[2]) if isinstance(base, Call) else None
    return ClassIds(count, base) if count is not None else None


def _drawn(call: Call) -> ClassIds | None:
    """`torch.randint(0, 10, (n,))`, `rng.integers(0, 4, n)`, `np.random.randint(5, size=n)`."""
    if call.qualified in ("torch.randint", "numpy.random.randint"):
        pass
    elif call.method == "integers":
        made = resolved(call.receiver)
        if not isinstance(made, Call) or not made.qualified.startswith("numpy.random."):
            return None
    else:
        return None
    numbers = [argument for argument in call.args if not isinstance(argument, Collection)]
    high = call.keywords.get("high")
    if high is None:
        first_two = numbers[:2] if call.qualified == "torch.randint" or len(numbers) > 1 else numbers[:1]
        high = first_two[-1] if first_two else None
    low = call.keywords.get("low", numbers[0] if len(numbers) > 1 else None)
    if low is not None and constant(low) != 0:
        return None
    count = constant(high)
    return ClassIds(count if isinstance(count, int) else None, call, is_random=True)


def is_used_as_index(ids: ClassIds, value: Value | None) -> bool:
    """Were the rows of a value chosen by these ids (`centres[labels]`)? Then the ids are names, not amounts."""
    return any(isinstance(part, Item) and _same(part.key, ids.source) for part in walk(value))


def _same(key: Value, source: Value) -> bool:
    keys = key.items if isinstance(key, Collection) else [key]
    return any(resolved(part) is source for part in keys)


def one_hot(program: Program, value: Value | None) -> tuple[Call, bool] | None:
    """The `one_hot` call that a target comes from, and whether it still holds whole numbers."""
    whole = True
    for _ in range(20):
        value = resolved(value)
        if isinstance(value, Item):
            part = part_of_batch(program, value)
            value = value.base if part is None else part.value
            continue
        op = operation(value)
        if op is None or not op.inputs:
            return None
        if op.name == "one_hot" and op.value.qualified.startswith("torch."):
            return op.value, whole
        if op.name not in LAYOUT and op.name != "long":
            return None
        if op.name in _REAL or (op.name in ("to", "type") and not _names(op.value, _WHOLE_TYPES)):
            whole = False
        value = op.inputs[0]
    return None


def is_real(program: Program, value: Value | None) -> bool:
    """Proven to hold real numbers (float), by its last change of type or by how it was made."""
    for _ in range(30):
        value = resolved(value)
        if isinstance(value, Item):
            part = part_of_batch(program, value)
            value = value.base if part is None else part.value
            continue
        if isinstance(value, Operation) and value.operator in ("*", "+", "-"):
            return any(is_real(program, operand) for operand in value.operands)
        if isinstance(value, Const):
            return isinstance(value.value, float)
        if not isinstance(value, Call):
            return False
        given = value.keywords.get("dtype")
        if given is not None:
            return isinstance(given, Name) and given.qualified.startswith(_REAL_TYPES)
        if value.qualified in (
            "torch.randn",
            "torch.rand",
            "torch.FloatTensor",
            "torch.Tensor",
            "torch.zeros",
            "torch.ones",
        ):
            return True
        op = operation(value)
        if op is None or not op.inputs:
            return False
        if op.name in _REAL:
            return True
        if op.name in ("to", "type", "astype") and value.args and isinstance(value.args[0], Name | Const):
            if _names(value, _REAL_TYPES):
                return True
            if _names(value, _WHOLE_TYPES) or op.name != "to":
                return False
        elif op.name not in LAYOUT and op.name not in ("from_numpy", "as_tensor", "detach", "cpu"):
            return False
        value = op.inputs[0]
    return False


def _names(call: Call, names: tuple[str, ...]) -> bool:
    given = [*call.args, *call.keywords.values()]
    return any(isinstance(value, Name) and value.qualified.startswith(names) for value in given)
