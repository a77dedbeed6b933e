"""Arrays out of pandas and scikit-learn: which are tables, which are columns, what a split gives back."""

from __future__ import annotations

from netmend.program.engine.values import Attribute, Call, Collection, Const, Item, Value, constant, resolved

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
    if (
        not isinstance(base, Call)
        or not base.qualified.startswith(_LOADERS)
        or base.qualified.rpartition(".")[2] in _SPREAD
    ):
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
