"""Arrays and tensors as data: the same numbers behind conversions, tables and splits, the shapes that they are made with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

from netmend.library.datasets import PICTURES
from netmend.library.operations import CASTS, COPIES, MOVES, VIEWS
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.loaders import steps_of, transform_name
from netmend.program.meaning.operations import behind, layer_name, named
from netmend.program.meaning.sizes import Shape, numbers, size_of, whole_number

_LAYOUT_LAYERS = ("flatten", "identity", "unflatten")
SPLIT = "sklearn.model_selection.train_test_split"
_METHODS = frozenset(
    (
        *MOVES,
        *CASTS,
        *COPIES,
        *VIEWS,
        "astype",
        "numpy",
        "to_numpy",
        "copy",
        "detach",
        "tolist",
        "requires_grad_",
        "ravel",
        "ascontiguousarray",
    )
)
_FUNCTIONS = frozenset(
    ["torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "numpy.array",
     "numpy.asarray", "numpy.float32", "numpy.ascontiguousarray", "numpy.expand_dims", "numpy.squeeze", "numpy.reshape", "torch.unsqueeze",
     "torch.squeeze", "torch.flatten", "torch.reshape", "torch.permute", "torch.transpose", "numpy.transpose", "numpy.ravel", "list",
     "pandas.DataFrame"]
)  # fmt: skip


@overload
def same_numbers(value: Value) -> Value: ...
@overload
def same_numbers(value: Value | None) -> Value | None: ...
def same_numbers(value: Value | None) -> Value | None:
    """What a value holds, behind conversions that keep every number and the order of rows."""
    return behind(value, _converted)


def _converted(value: Value) -> Value | None:
    if isinstance(value, Attribute) and value.name == "values":
        return value.base
    if not isinstance(value, Call):
        return None
    if value.method in _METHODS:
        return value.receiver
    is_layout = value.qualified in _FUNCTIONS or layer_name(value.function) in _LAYOUT_LAYERS
    return value.args[0] if value.args and is_layout else None


@dataclass(frozen=True)
class Cut:
    """A run of rows that is stored under a name: `x_train = x[:800]`."""

    name: str
    base: Value
    lower: Value | None
    upper: Value | None
    event: StoreEvent
    item: Item | None  # None: the whole

    def bounds(self) -> tuple[int | None, int | None] | None:
        """Constant bounds, None for an open end; nothing when one is not known or counts from the end."""
        lower, upper = constant(self.lower), constant(self.upper)
        if not isinstance(self.lower, Const) or not isinstance(self.upper, Const):
            return None
        for bound in (lower, upper):
            if bound is not None and (not isinstance(bound, int) or bound < 0):
                return None
        return lower, upper


@once
def cuts(program: Program) -> tuple[Cut, ...]:
    """Rows that are cut out of an array by a slice and stored, in order."""
    found = []
    for event in program.stores:
        if not event.target.name:
            continue
        item = same_numbers(event.value)
        if isinstance(item, Item):
            rows = _rows(item.key)
            if rows is not None:
                base = same_numbers(item.base)
                if isinstance(base, Attribute) and base.name in ("iloc", "loc"):
                    base = same_numbers(base.base)
                found.append(Cut(event.target.name, base, rows[0], rows[1], event, item))
    return tuple(found)


def _rows(key: Value) -> tuple[Value, Value] | None:
    """Start and end of a slice over rows without a step."""
    if isinstance(key, Collection) and key.items:
        if not all(isinstance(part, Operation) and part.operator == "slice" for part in key.items):
            return None
        key = key.items[0]
    if isinstance(key, Operation) and key.operator == "slice" and constant(key.operands[2]) is None:
        is_whole = all(isinstance(bound, Const) and bound.value is None for bound in key.operands[:2])
        return None if is_whole else (key.operands[0], key.operands[1])
    return None


def complements(program: Program) -> Iterator[tuple[Cut, Cut]]:
    """Pairs of cuts of one array where the second begins where the first ends: a split."""
    known = cuts(program)
    for first in known:
        if constant(first.lower, 0) not in (None, 0) or not _is_bound(first.upper):
            continue
        for second in known:
            if (
                second.base is first.base
                and _is_bound(second.lower)
                and _same_bound(first.upper, second.lower)
            ):
                yield first, second
                break


def _is_bound(value: Value | None) -> bool:
    return value is not None and constant(value, 0) is not None


def _same_bound(one: Value | None, other: Value | None) -> bool:
    if one is other:
        return True
    return isinstance(one, Const) and isinstance(other, Const) and one.value == other.value


def split_part(value: Value | None) -> tuple[Call, int] | None:
    """For a part of `train_test_split(…)`: the call and the position of the part (odd: test)."""
    value = same_numbers(value)
    if isinstance(value, Item) and isinstance(value.key, Const) and isinstance(value.key.value, int):
        call = resolved(value.base)
        if isinstance(call, Call) and call.qualified == SPLIT:
            return call, value.key.value
    return None


_READERS = ("pandas.read_", "pandas.DataFrame")
_FRAME_METHODS = frozenset(
    ("drop", "dropna", "fillna", "sample", "copy", "head", "tail", "reset_index", "sort_values", "astype", "drop_duplicates", "query")
)  # fmt: skip
_LOADERS = ("sklearn.datasets.load_", "sklearn.datasets.make_", "sklearn.datasets.fetch_")
_SPREAD = frozenset(
    (
        "make_friedman1",
        "make_multilabel_classification",
        "load_linnerud",
        "fetch_openml",
        "load_files",
        "fetch_20newsgroups",
    )
)


def axes_of_array(value: Value) -> int | None:
    """2 for a table's numbers, 1 for a column's; None for anything else."""
    if isinstance(value, Attribute) and value.name == "values":
        return axes_of_frame(resolved(value.base))
    if isinstance(value, Call) and value.method == "to_numpy" and value.receiver is not None:
        return axes_of_frame(resolved(value.receiver))
    part = part_of_samples(value)
    return None if part is None else 2 - part


def axes_of_frame(value: Value) -> int | None:
    """2 for a `DataFrame`, 1 for a column of one."""
    if isinstance(value, Call):
        if value.qualified.startswith(_READERS):
            return 2
        if value.method in _FRAME_METHODS and value.receiver is not None:
            return axes_of_frame(resolved(value.receiver))
    if isinstance(value, Item) and axes_of_frame(resolved(value.base)) == 2:
        key = resolved(value.key)
        if isinstance(key, Const) and isinstance(key.value, str):
            return 1
        return 2 if isinstance(key, Collection) and key.kind == "list" else None
    return None


def part_of_samples(value: Value) -> int | None:
    """0 for the inputs and 1 for the targets of a scikit-learn dataset."""
    if isinstance(value, Attribute):
        place = {"data": 0, "target": 1}.get(value.name)
    else:
        place = (
            {0: 0, 1: 1, "data": 0, "target": 1}.get(constant(value.key)) if isinstance(value, Item) else None
        )
    base = resolved(value.base) if place is not None and isinstance(value, Attribute | Item) else None
    if not isinstance(base, Call) or not base.qualified.startswith(_LOADERS):
        return None
    if base.qualified.rpartition(".")[2] in _SPREAD:
        return None
    return place if "n_targets" not in base.keywords else None


def split_from(value: Value) -> Value | None:
    """The array that a part of `train_test_split(X, y)` was cut from; None for anything else."""
    base = resolved(value.base) if isinstance(value, Item) else None
    if (
        isinstance(value, Item)
        and isinstance(base, Call)
        and base.qualified == "sklearn.model_selection.train_test_split"
    ):
        place = constant(value.key)
        if isinstance(place, int) and 0 <= place < 2 * len(base.args) and not base.open:
            return base.args[place // 2]
    return None


def scaled_from(value: Value) -> Value | None:
    """What a scikit-learn scaler was given: `StandardScaler().fit_transform(X)`, `StandardScaler().fit(X).transform(X)`."""
    if (
        isinstance(value, Call)
        and value.method in ("fit_transform", "transform", "inverse_transform")
        and value.args
    ):
        made = resolved(value.receiver)
        if isinstance(made, Call) and made.method == "fit" and made.receiver is not None:
            made = resolved(made.receiver)  # `StandardScaler().fit(X)` gives the scaler back
        if (
            isinstance(made, Call)
            and made.qualified.startswith("sklearn.preprocessing.")
            and "Scaler" in made.qualified
        ):
            return value.args[0]
    return None


# Transforms that leave channels and size of a picture alone.
_SAME = frozenset(
    ("ToTensor", "Normalize", "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "RandomRotation", "RandomErasing",
     "RandomAffine", "AutoAugment", "RandAugment", "TrivialAugmentWide", "PILToTensor", "ConvertImageDtype", "ToImage", "ToDtype")
)  # fmt: skip
_SIZED = frozenset(("Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"))
_BY_ARGUMENTS = frozenset(
    ("randn", "rand", "zeros", "ones", "empty", "standard_normal", "random", "random_sample")
)
# The place of the size among the arguments.
_BY_SIZE = {
    "randint": 2, "normal": 2, "uniform": 2, "integers": 2, "laplace": 2, "choice": 1, "exponential": 1, "poisson": 1, "full": 0,
}  # fmt: skip
_ONE_DIMENSION = frozenset(("randperm", "arange", "linspace", "permutation", "logspace", "multinomial"))


def made_shape(call: Call) -> Shape | None:
    """The shape of a tensor or array that is made of given sizes."""
    name, _ = named(call)
    maker = resolved(call.receiver)
    is_generator = isinstance(maker, Call) and maker.qualified.startswith("numpy.random.")
    if name in _ONE_DIMENSION:
        return Shape((None,))
    if call.open or (call.method and not is_generator):
        return None
    size = call.keywords.get("size", call.keywords.get("shape"))
    if name in _BY_ARGUMENTS:
        if size is None and len(call.args) > 1 and not isinstance(resolved(call.args[0]), Collection):
            return Shape(tuple(size_of(value) for value in call.args))
        return _given(size if size is not None else call.argument("size", 0))
    if name in _BY_SIZE:
        if size is None and name in ("randint", "integers") and len(call.args) == 2:
            size = call.args[1]  # `randint(10, (n, 3))`
        return _given(size if size is not None else call.argument("size", _BY_SIZE[name]))
    return None


def _given(value: Value | None) -> Shape | None:
    """`size=(n, 3)`, `size=n`; a name of unknown kind may be either."""
    value = resolved(value)
    if isinstance(value, Collection):
        return (
            None
            if value.open or value.kind == "dict"
            else Shape(tuple(size_of(item) for item in value.items))
        )
    if isinstance(value, Const):
        return Shape((value.value,)) if whole_number(value) is not None else None
    return Shape((None,)) if _is_number(value) else None


def _is_number(value: Value | None) -> bool:
    """Whether arithmetic gives a number for certain: `a + b` of unknown kinds may join tuples, `(n,) + x.shape` does."""
    value = resolved(value)
    if isinstance(value, Operation):
        parts = [resolved(operand) for operand in value.operands]
        if any(isinstance(part, Collection) for part in parts):
            return False
        return value.operator not in ("+", "*") or any(map(_is_number, parts))
    if isinstance(value, Call):
        return value.qualified in ("len", "int")
    return isinstance(value, Const) and isinstance(value.value, int | float)


def picture(dataset: Value) -> Shape | None:
    """A picture of a data set of torchvision behind its transforms; None unless each of them is known."""
    if not isinstance(dataset, Call) or not dataset.qualified.startswith("torchvision.datasets."):
        return None
    shape = PICTURES.get(dataset.qualified.rpartition(".")[2])
    steps = steps_of(dataset.keywords.get("transform"))
    if shape is None or steps is None:
        return None
    result: tuple[int | None, ...] = shape
    for step in steps:
        name = transform_name(step)
        if not isinstance(step, Call) or not name:
            return None
        if name in _SIZED:
            result = (result[0], *numbers(step.argument("size", 0), 2))
        elif name == "Grayscale":
            channels = whole_number(step.argument("num_output_channels", 0))
            result = (channels or (None if step.args else 1), *result[1:])
        elif name == "Pad":
            result = (result[0], None, None)
        elif name not in _SAME:
            return None
    return Shape(result)
