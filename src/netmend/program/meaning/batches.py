"""What a loop over a loader gives, what stands at each place of a batch, and what a data set takes out of its store."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.library.operations import (
    ARITHMETIC,
    AXES,
    CASTS,
    COPIES,
    FLOATS,
    FROM_ARRAYS,
    MOVES,
    SHAPES,
    TURNS,
)
from netmend.program.engine.calls import follow
from netmend.program.engine.entries import Entry
from netmend.program.engine.history import Block, CallEvent
from netmend.program.engine.machine import OutOfEffort
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.operations import behind, operation

_MOST_ASKED = 3  # data sets of one class
INDEX = "__index__"  # the parameter that a dataset's __getitem__ is asked with


@dataclass(frozen=True)
class Part:
    """One place of a batch. `rows`: `value` is the tensor of the whole dataset; otherwise it is that of one sample."""

    element: Element
    batched: bool
    dataset: Value
    position: int
    value: Value | None = None
    rows: bool = False


def part_of_batch(program: Program, value: Value) -> Part | None:
    """The place of a batch that a value is: `x` in `for x, y in loader`; None for anything else."""
    if not isinstance(value, Item) or not isinstance(value.key, Const):
        return None
    if not isinstance(value.key.value, int):
        return None
    element = resolved(value.base)
    if not isinstance(element, Element):
        return None
    found = dataset_of(element.iterable)
    if found is None:
        return None
    dataset, batched = found
    position = value.key.value
    if isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.TensorDataset":
        tensors = spread(dataset)
        if position < len(tensors):
            return Part(element, batched, dataset, position, tensors[position], rows=True)
        return None
    if isinstance(dataset, Instance):
        sample = sample_of_dataset(program, dataset)
        if isinstance(sample, Collection) and sample.kind == "tuple" and position < len(sample.items):
            return Part(element, batched, dataset, position, sample.items[position])
        return None
    return Part(element, batched, dataset, position)


def dataset_of(iterable: Value) -> tuple[Value, bool] | None:
    """The dataset that is looped over, and whether in batches."""
    loader = resolved(iterable)
    if isinstance(loader, Call) and loader.qualified.endswith("DataLoader"):
        given = loader.argument("dataset", 0)
        size = loader.keywords.get("batch_size")
        if given is None or loader.open or "collate_fn" in loader.keywords:
            return None
        return behind(given, _whole), not (isinstance(size, Const) and size.value is None)
    dataset = behind(loader, _whole)
    is_dataset = isinstance(dataset, Call) and dataset.qualified.startswith(
        ("torch.utils.data.", "torchvision.datasets.")
    )
    return (dataset, False) if is_dataset else None


def _whole(dataset: Value) -> Value | None:
    """What a `Subset` or a part of a `random_split` is cut from."""
    is_part = isinstance(dataset, Item)
    cut = resolved(dataset.base) if isinstance(dataset, Item) else dataset
    name = "torch.utils.data.random_split" if is_part else "torch.utils.data.Subset"
    return cut.args[0] if isinstance(cut, Call) and cut.qualified == name and cut.args else None


def spread(call: Call) -> tuple[Value, ...]:
    """The arguments of a call, with `*pair` taken apart where it is known."""
    found: list[Value] = []
    for value in call.args:
        inner = resolved(value.iterable) if isinstance(value, Element) and call.open else None
        if inner is None:
            found.append(value)
        elif isinstance(inner, Collection) and not inner.open:
            found.extend(inner.items)
        else:
            return ()
    return tuple(found)


def sample_of_dataset(program: Program, dataset: Instance) -> Value | None:
    """What `dataset[index]` returns."""
    return _asked_once(program, dataset)[0]


def _asked_once(program: Program, dataset: Instance) -> tuple[Value | None, Block]:
    known: dict[int, tuple[Value, tuple[Value | None, Block]]] = program.answers.setdefault("samples", {})
    if id(dataset) not in known:
        known[id(dataset)] = (dataset, _asked(program, dataset))
    return known[id(dataset)][1]


def _asked(program: Program, dataset: Instance) -> tuple[Value | None, Block]:
    method = dataset.cls.method("__getitem__")
    if method is None:
        return None, Block()
    machine = program.machine
    block = machine.begin()
    machine.visits.pop(id(method.definition), None)
    bound = method.bound(dataset)
    aside, machine.aside = (
        machine.aside,
        False,
    )  # a data set of another file is looked into as one of this file
    try:
        result = follow(machine, bound, Call(bound, (Param(INDEX, "int", None, None),)))
    except (OutOfEffort, RecursionError):
        return None, block
    finally:
        machine.aside = aside
    return resolved(result), block


@once
def calls_of_datasets(program: Program) -> tuple[CallEvent, ...]:
    """What happens when a sample is taken out of data sets whose class is of another file: nothing in this one asks them."""
    program.entries  # noqa: B018 - makes the data sets
    blocks: list[Block] = []
    for made in list(program.machine.made.values()):
        for dataset in made[:_MOST_ASKED]:
            if dataset.cls.module is not program.module and dataset.cls.method("__getitem__") is not None:
                blocks.append(_asked_once(program, dataset)[1])
    return tuple(event for block in blocks for event in block.events() if isinstance(event, CallEvent))


def is_from_loop(value: Value) -> bool:
    """Is it (a part of) what a loop over data gives, untouched by any model: `y`, `batch["label"]`, `y.to(device)`?"""
    value = behind(value, _moved)
    if isinstance(value, Either):
        return all(is_from_loop(option) for option in value.options)
    if isinstance(value, Element):
        return is_data(value)
    return isinstance(value, Param) and value.name == "batch"  # of a training_step


def _moved(value: Value) -> Value | None:
    if isinstance(value, Item | Attribute):
        return value.base
    return value.receiver if isinstance(value, Call) and value.method in _MOVES else None


def is_data(element: Element) -> bool:
    """Does the loop run over a loader or dataset, not over rows of something that was computed?"""
    source = resolved(element.iterable)
    return isinstance(source, Param | Unknown | Attribute | Name | Instance) or (
        isinstance(source, Call) and operation(source) is None
    )


_MOVES = frozenset((*MOVES, *CASTS, *SHAPES, "contiguous"))


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
