"""What a loop over a loader gives: the dataset behind it, and what stands at each place of a batch."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.library.operations import CASTS, MOVES, SHAPES
from netmend.program.engine.calls import follow
from netmend.program.engine.machine import OutOfEffort
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Name,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.operations import operation

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
    if (
        not isinstance(value, Item)
        or not isinstance(value.key, Const)
        or not isinstance(value.key.value, int)
    ):
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
        sample = _sample(program, dataset)
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
        return _whole(given), not (isinstance(size, Const) and size.value is None)
    dataset = _whole(loader)
    is_dataset = isinstance(dataset, Call) and dataset.qualified.startswith(
        ("torch.utils.data.", "torchvision.datasets.")
    )
    return (dataset, False) if is_dataset else None


def _whole(dataset: Value) -> Value:
    """Behind `Subset` and `random_split`."""
    for _ in range(6):
        dataset = resolved(dataset)
        if isinstance(dataset, Item):
            base = resolved(dataset.base)
            if not (
                isinstance(base, Call) and base.qualified == "torch.utils.data.random_split" and base.args
            ):
                return dataset
            dataset = base.args[0]
        elif isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.Subset" and dataset.args:
            dataset = dataset.args[0]
        else:
            return dataset
    return dataset


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


def _sample(program: Program, dataset: Instance) -> Value | None:
    """What `dataset[index]` returns."""
    known: dict[int, tuple[Value, Value | None]] = program.answers.setdefault("samples", {})
    if id(dataset) not in known:
        known[id(dataset)] = (dataset, _asked(program, dataset))
    return known[id(dataset)][1]


def _asked(program: Program, dataset: Instance) -> Value | None:
    method = dataset.cls.method("__getitem__")
    if method is None:
        return None
    machine = program.machine
    machine.begin()
    machine.visits.pop(id(method.definition), None)
    bound = Function(method.definition, method.scope, method.module, dataset, method.within)
    try:
        result = follow(machine, bound, Call(bound, (Param(INDEX, "int", None, None),)))
    except (OutOfEffort, RecursionError):
        return None
    return resolved(result)


def is_from_loop(value: Value) -> bool:
    """Is it (a part of) what a loop over data gives, untouched by any model: `y`, `batch["label"]`, `y.to(device)`?"""
    for _ in range(20):
        value = resolved(value)
        if isinstance(value, Either):
            return all(is_from_loop(option) for option in value.options)
        if isinstance(value, Element):
            return is_data(value)
        if isinstance(value, Item | Attribute):
            value = value.base
        elif isinstance(value, Call) and isinstance(value.function, Attribute) and value.method in _MOVES:
            value = value.function.base
        else:
            return isinstance(value, Param) and value.name == "batch"  # of a training_step
    return False


def is_data(element: Element) -> bool:
    """Does the loop run over a loader or dataset, not over rows of something that was computed?"""
    source = resolved(element.iterable)
    return isinstance(source, Param | Unknown | Attribute | Name | Instance) or (
        isinstance(source, Call) and operation(source) is None
    )


_MOVES = frozenset((*MOVES, *CASTS, *SHAPES, "contiguous"))
