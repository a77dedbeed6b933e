"""What feeds a model: loaders, data sets and their transforms, which of them train it and which evaluate it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.datasets import TRAIN_BY_DEFAULT
from netmend.program.engine.history import Event, Loop
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import sample_of_dataset, spread
from netmend.program.meaning.operations import behind, walk
from netmend.program.meaning.roles import LOADER, role
from netmend.program.meaning.training import Round, grad_is_off, is_backward, is_opaque, loss_of, rounds

LOADER_NAME = "torch.utils.data.DataLoader"
_RUNNING_OVER = ("enumerate", "tqdm", "iter", "track", "islice", "progress_bar", "list")
_EVALUATION_SPLITS = ("test", "val", "valid", "validation")


@dataclass(frozen=True)
class Fed:
    """A loader whose batches reach a loss that is back-propagated and stepped on."""

    round: Round
    backward: Event
    element: Element
    loader: Value


def loader_made(value: Value | None) -> Call | None:
    """The `DataLoader(…)` that a value is."""
    value = resolved(value)
    return value if isinstance(value, Call) and value.qualified == LOADER_NAME else None


@once
def trained(program: Program) -> tuple[Fed, ...]:
    """Loaders (made here, or parameters that are called so) that training loops draw their batches from."""
    found: list[Fed] = []
    for turn in rounds(program):
        for backward in turn.backward:
            seen: set[int] = set()
            for value in walk(loss_of(backward), into=_is_no_batch):
                if not _is_no_batch(value) and isinstance(value, Element):
                    loader = resolved(value.iterable)
                    if id(loader) not in seen:
                        seen.add(id(loader))
                        found.append(Fed(turn, backward, value, loader))
    return tuple(found)


def _is_no_batch(value: Value) -> bool:
    """What a loader was made from (a mean over another loader, say) is not what the loss is computed from."""
    return not (isinstance(value, Element) and role(value.iterable) == LOADER)


@dataclass(frozen=True)
class Evaluated:
    """A loop over a loader under no_grad, without any backward in it."""

    loop: Loop
    loader: Value


@once
def evaluated(program: Program) -> tuple[Evaluated, ...]:
    """Loops that only evaluate: gradients are off around or inside, nothing trains there."""
    found: list[Evaluated] = []
    for loop in program.loops:
        if loop.iterable is None:
            continue
        loader = behind(loop.iterable, run_over)
        if role(loader) != LOADER:
            continue
        events = list(loop.body.events())
        if any(is_backward(event) for event in events):
            continue
        off = grad_is_off(loop) or any(grad_is_off(event) for event in events)
        if off and not any(is_opaque(event) and not grad_is_off(event) for event in events):
            found.append(Evaluated(loop, loader))
    return tuple(found)


def run_over(value: Value) -> Value | None:
    """What a loop runs over, behind enumerate, progress bars and the like."""
    name = value.qualified.rpartition(".")[2] if isinstance(value, Call) and value.args else ""
    return value.args[0] if isinstance(value, Call) and name in _RUNNING_OVER else None


def dataset_of(loader: Call) -> Value | None:
    given = loader.argument("dataset", 0)
    return resolved(given)


def image_set(dataset: Value | None) -> str:
    """`MNIST` for a dataset of torchvision, else ""."""
    if isinstance(dataset, Call) and dataset.qualified.startswith("torchvision.datasets."):
        return dataset.qualified.rpartition(".")[2]
    return ""


def split_of(dataset: Value | None) -> str:
    """`train` or `test` for a torchvision dataset whose arguments tell; else ""."""
    name = image_set(dataset)
    if not name or not isinstance(dataset, Call) or dataset.open:
        return ""
    flag = dataset.argument("train", 1 if name in TRAIN_BY_DEFAULT else None)
    if isinstance(flag, Const) and isinstance(flag.value, bool):
        return "train" if flag.value else "test"
    if name in TRAIN_BY_DEFAULT:
        return "train" if flag is None else ""
    split = constant(dataset.argument("split", 1 if name == "SVHN" else None))
    if split == "train":
        return "train"
    return "test" if split in _EVALUATION_SPLITS else ""


def transform_of(dataset: Value | None) -> Value | None:
    """The `transform` that a torchvision dataset was given."""
    name = image_set(dataset)
    if not isinstance(dataset, Call) or dataset.open or not name:
        return None
    position = 2 if name in TRAIN_BY_DEFAULT or name == "SVHN" else 1 if name == "ImageFolder" else None
    return dataset.argument("transform", position)


def steps_of(transform: Value | None) -> tuple[Value, ...] | None:
    """The single transforms of a `Compose([...])`, in order; None when they cannot be told."""
    if transform is None:
        return None
    transform = resolved(transform)
    if transform_name(transform) != "Compose":
        return (transform,) if transform_name(transform) else None
    given = transform.argument("transforms", 0) if isinstance(transform, Call) else None
    inner = resolved(given)
    if not isinstance(inner, Collection) or inner.open:
        return None
    steps: list[Value] = []
    for item in inner.items:
        item = resolved(item)
        if transform_name(item) == "Compose":
            nested = steps_of(item)
            if nested is None:
                return None
            steps.extend(nested)
        else:
            steps.append(item)
    return tuple(steps)


def transform_name(value: Value | None) -> str:
    """`ToTensor` for a transform of torchvision, else ""."""
    value = resolved(value)
    if isinstance(value, Call) and value.qualified.startswith("torchvision.transforms."):
        return value.qualified.rpartition(".")[2]
    return ""


def samples_of(program: Program, dataset: Value | None) -> tuple[Value, ...] | None:
    """The parts of one sample (input, label, …), each as the array or expression it is taken from; None when unknown."""
    if isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.TensorDataset":
        return spread(dataset) or None
    sample = sample_of_dataset(program, dataset) if isinstance(dataset, Instance) else None
    is_told = isinstance(sample, Collection) and sample.kind == "tuple" and not sample.open
    return tuple(sample.items) if isinstance(sample, Collection) and is_told else None


def label_of(program: Program, dataset: Value | None) -> Value | None:
    """What the labels of a dataset are taken from: the last part of its samples."""
    samples = samples_of(program, dataset)
    if samples is not None and len(samples) > 1:
        return samples[-1]
    getter = dataset.cls.method("__getitem__") if isinstance(dataset, Instance) else None
    if getter is None or not isinstance(dataset, Instance):
        return None
    for part in ast.walk(getter.definition):
        if isinstance(part, ast.Return) and isinstance(part.value, ast.Tuple):
            last = part.value.elts[-1]
            while isinstance(last, ast.Subscript | ast.Call):
                last = (
                    last.value
                    if isinstance(last, ast.Subscript)
                    else last.args[0]
                    if last.args
                    else last.func
                )
            if isinstance(last, ast.Attribute):
                return dataset.attributes.get(last.attr)
    return None


def drawn(program: Program, value: Value | None) -> Value | None:
    """For a part of a batch, the expression in the dataset that it is drawn from."""
    value = resolved(value)
    if isinstance(value, Item) and isinstance(value.key, Const) and isinstance(value.key.value, int):
        element = resolved(value.base)
        loader = loader_made(element.iterable) if isinstance(element, Element) else None
        samples = samples_of(program, _whole(dataset_of(loader))) if loader is not None else None
        if samples is not None and 0 <= value.key.value < len(samples):
            return samples[value.key.value]
    return None


def _whole(dataset: Value | None) -> Value | None:
    """The dataset that a part was taken from by `random_split` or `Subset`."""
    if isinstance(dataset, Item):
        made = resolved(dataset.base)
        if isinstance(made, Call) and made.qualified == "torch.utils.data.random_split" and made.args:
            return resolved(made.args[0])
    if isinstance(dataset, Call) and dataset.qualified == "torch.utils.data.Subset" and dataset.args:
        return resolved(dataset.args[0])
    return dataset


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
