"""Image transforms of training sets and of the evaluation sets that belong to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, resolved
from netmend.program.meaning.loaders_of_models import (
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
    yield from _by_path(program)


def evaluation_transforms(program: Program) -> Iterator[tuple[Value, ast.AST]]:
    """Transforms that evaluation data goes through, each with the place of the dataset or the dictionary entry."""
    for test in _sets(program, "test"):
        transform = transform_of(test)
        if transform is not None and test.node is not None:
            yield transform, test.node
    for _, test_steps, node in _dictionaries(program):
        yield test_steps, node


def _sets(program: Program, split: str) -> list[Call]:
    return [event.call for event in program.calls if split_of(event.call) == split]


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


def _by_path(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    """Datasets of folders, told apart by the folder: `root/train` and `root/val`."""
    folders = [event.call for event in program.calls if image_set(event.call) == "ImageFolder"]
    train = [call for call in folders if _last_folder(call) == "train"]
    for test in folders:
        if _last_folder(test) not in _EVALUATION_KEYS or test.node is None:
            continue
        for one, other in ((transform_of(call), transform_of(test)) for call in train):
            if one is not None and other is not None:
                yield one, other, test.node


def _last_folder(dataset: Call) -> str:
    root = dataset.argument("root", 0)
    root = resolved(root)
    if isinstance(root, Call) and root.qualified == "os.path.join" and root.args:
        root = resolved(root.args[-1])
    if isinstance(root, Operation) and root.operator in ("/", "+", "format") and root.operands:
        root = resolved(root.operands[-1])
    path = root.value if isinstance(root, Const) and isinstance(root.value, str) else ""
    return path.rstrip("/").rpartition("/")[2].lower()


def _folder(loader: Value) -> Call | None:
    made = loader_made(loader)
    dataset = dataset_of(made) if made is not None else None
    return dataset if isinstance(dataset, Call) and image_set(dataset) == "ImageFolder" else None
