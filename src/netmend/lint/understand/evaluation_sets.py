"""Image transforms of training sets and of the evaluation sets that belong to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.engine.values import Call, Collection, Const, Value, resolved
from netmend.lint.understand.feeding import (
    dataset_of,
    evaluated,
    image_set,
    loader_made,
    split_of,
    steps_of,
    trained,
    transform_of,
)

_EVALUATION_KEYS = ("val", "test", "valid", "validation", "eval")


def prepared_pairs(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    """Transforms of a training set and of an evaluation set of the same data, with the place of the latter."""
    for train in _sets(program, "train"):
        for test in _sets(program, "test"):
            one, other = transform_of(train), transform_of(test)
            if (
                train.qualified == test.qualified
                and one is not None
                and other is not None
                and test.node is not None
            ):
                yield one, other, test.node
    yield from _dictionaries(program)
    yield from _fed(program)


def evaluation_transforms(program: Program) -> Iterator[tuple[Value, ast.AST]]:
    """Transforms that evaluation data goes through, each with the place of the dataset or the dictionary entry."""
    for test in _sets(program, "test"):
        transform = transform_of(test)
        if transform is not None and test.node is not None:
            yield transform, test.node
    for _, test_steps, node in _dictionaries(program):
        yield test_steps, node


def _sets(program: Program, split: str) -> list[Call]:
    found = []
    for event in program.calls:
        call = event.call
        if call is not None and image_set(call) and split_of(call) == split:
            found.append(call)
    return found


def _dictionaries(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    """`{"train": Compose([...]), "val": Compose([...])}`."""
    seen: set[int] = set()
    for event in program.events:
        value = resolved(event.value)
        if not isinstance(value, Collection) or value.kind != "dict" or id(value) in seen:
            continue
        seen.add(id(value))
        train = value.get("train")
        if train is None or steps_of(train) is None:
            continue
        for key, item in zip(value.keys or (), value.items, strict=False):
            if isinstance(key, Const) and key.value in _EVALUATION_KEYS and steps_of(item) is not None:
                node = resolved(item).node
                if node is not None:
                    yield train, item, node


def _fed(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    """Datasets of folders, told apart by the loops that use them."""
    train = [_folder(feeding.loader) for feeding in trained(program)]
    for evaluation in evaluated(program):
        test = _folder(evaluation.loader)
        for folder in train:
            if folder is None or test is None or folder is test or test.node is None:
                continue
            one, other = transform_of(folder), transform_of(test)
            if one is not None and other is not None:
                yield one, other, test.node


def _folder(loader: Value) -> Call | None:
    made = loader_made(loader)
    dataset = dataset_of(made) if made is not None else None
    return dataset if isinstance(dataset, Call) and image_set(dataset) == "ImageFolder" else None
