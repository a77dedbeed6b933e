"""Where the arrays given to Keras come from: a data set of Keras, a split, one-hot codes; scaled or as they were."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.library.keras import SAME_NUMBERS, SAME_NUMBERS_FUNCTIONS
from netmend.program.engine.values import Call, Collection, Const, Either, Item, Operation, Value, resolved

# Shape of one sample and number of classes.
IMAGES: dict[str, tuple[tuple[int, ...], int]] = {
    "mnist": ((28, 28), 10),
    "fashion_mnist": ((28, 28), 10),
    "cifar10": ((32, 32, 3), 10),
    "cifar100": ((32, 32, 3), 100),
}
HOUSES = ("boston_housing", "california_housing")


@dataclass(frozen=True)
class Source:
    """What an array is: part (0 training, 1 test; 0 inputs, 1 targets) of a data set, and what was done to it."""

    data: str  # "mnist", …; "split" for train_test_split; "" when unknown
    split: int = -1
    part: int = -1
    scaled: bool = False
    one_hot: bool = False
    reshaped: bool = False
    made: Call | None = None  # the load or the split


def source(value: Value | None) -> Source:
    """Follow an array back to where it was loaded or split."""
    scaled = one_hot = reshaped = False
    for _ in range(40):
        value = resolved(value)
        if isinstance(value, Item):
            found = _part(value)
            if found is not None:
                return Source(found[0], found[1], found[2], scaled, one_hot, reshaped, found[3])
            key = resolved(value.key)
            if isinstance(key, Collection):
                reshaped = True  # `x[..., None]`
            elif not (isinstance(key, Operation) and key.operator == "slice"):
                return Source("", one_hot=one_hot)
            value = value.base
        elif isinstance(value, Operation):
            if value.operator not in ("/", "*", "-", "+"):
                return Source("", one_hot=one_hot)
            scaled = True
            value = value.operands[0]
        elif isinstance(value, Call) and value.method in SAME_NUMBERS:
            reshaped = reshaped or value.method not in ("astype", "copy")
            value = value.receiver
        elif isinstance(value, Call) and value.qualified in SAME_NUMBERS_FUNCTIONS and value.args:
            reshaped = reshaped or value.qualified.rpartition(".")[2] in (
                "expand_dims",
                "reshape",
                "squeeze",
                "transpose",
            )
            value = value.args[0]
        elif (
            isinstance(value, Call) and value.qualified.rpartition(".")[2] == "to_categorical" and value.args
        ):
            one_hot = True
            value = value.args[0]
        elif isinstance(value, Either):
            return Source("")
        else:
            return Source("", one_hot=one_hot)
    return Source("")


def _part(value: Item) -> tuple[str, int, int, Call] | None:
    outer = resolved(value.base)
    if not isinstance(value.key, Const) or type(value.key.value) is not int:
        return None
    if isinstance(outer, Call) and outer.qualified.endswith(".train_test_split"):
        # x_train, x_test, y_train, y_test
        place = value.key.value
        return ("split", place % 2, place // 2, outer) if len(outer.args) == 2 and 0 <= place < 4 else None
    if isinstance(outer, Item) and isinstance(outer.key, Const):
        load = resolved(outer.base)
        if (
            isinstance(load, Call)
            and load.qualified.startswith("keras.datasets.")
            and load.qualified.endswith(".load_data")
        ):
            return load.qualified.split(".")[2], int(outer.key.value), value.key.value, load
    return None
