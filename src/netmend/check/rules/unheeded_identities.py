"""Rows of known persons or objects that are divided one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.columns import tables_behind
from netmend.program.meaning.offsets import key_of
from netmend.program.meaning.operations import parts_of, walk
from netmend.program.meaning.random_splits import RandomSplit, random_splits

TABLE = 'import numpy as np\nimport pandas as pd\nfrom sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, train_test_split\ndf = pd.read_csv("frames.csv")\nprint(len(df), "frames of", df["patient"].nunique(), "patients")\n'
ARRAYS = 'import h5py\nimport numpy as np\nfrom sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, train_test_split\nf = h5py.File("knees.h5")\nx, y, patient = f["slices"][:], f["tear"][:], f["patient"][:]\nprint(f"{len(x)} slices of {len(np.unique(patient))} patients")\n'
_COUNTS = frozenset(("nunique", "n_unique"))
_COUNTED_BY = frozenset(("numpy.unique", "set", "pandas.unique", "torch.unique", "collections.Counter"))
_WHOLE = frozenset(("to_numpy", "get_dummies", "select_dtypes", "to_torch", "to_records"))


class IdentitiesUnheeded(StaticRule, code="S943", cause="VAL-SPLIT"):
    """The program counts persons, recordings or objects among its rows, and then draws the test part row by row.

    Rows of one person lie in both parts. They look alike and mostly have the same answer, so the network recognises persons, and
    the score says little about new ones.

    Draw persons: `GroupShuffleSplit(...).split(X, y, groups=patient)`, or pick rows by drawn values of the column.
    """

    message = "Rows of one {0} fall into both parts: the rows are drawn one by one although the program counts different values of `{0}`; divide by it (GroupShuffleSplit, or rows picked by drawn values)."
    triggers = ("nunique(", "n_unique(", "unique(", "set(")
    needs = "import"
    patterns = (r"train_test_split\(|random_split\(|permutation\(|randperm\(|Split\(|\.rand\(|shuffle",)

    GOOD = (
        Snippet("by patient", TABLE + 'train, test = next(GroupShuffleSplit(1).split(df, groups=df["patient"]))\n'),
        Snippet("drawn patients", TABLE + 'ids = np.random.permutation(df["patient"].unique())\ntest = df[df["patient"].isin(ids[:20])]\ntrain = df[~df["patient"].isin(ids[:20])]\n'),
        Snippet("the identity is an input", TABLE + 'df["user"] = df["patient"].astype("category").cat.codes\ntrain, test = train_test_split(df[["user", "item", "rating"]])\n'),
        Snippet("the whole table is fed", TABLE + 'X = pd.get_dummies(df.drop(columns="label"))\na, b = train_test_split(X)\n'),
        Snippet("classes are counted", ARRAYS.replace("np.unique(patient)", "np.unique(y)") + "tr, te, a, b = train_test_split(x, y)\n"),
        Snippet("groups are given", ARRAYS + "tr, te = next(GroupShuffleSplit(1).split(x, y, groups=patient))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("arrays of one file", ARRAYS + "tr, te = next(ShuffleSplit(1, test_size=0.2).split(x, y))\n", line=7),
        Snippet("a mask over a table", TABLE + 'held = np.random.rand(len(df)) < 0.25\ntrain, test = df[~held], df[held]\nfiles, labels = train["file"], train["inflamed"]\n', line=6),
        Snippet("columns for the inputs", TABLE + 'X, y = df[["a", "b"]].to_numpy(), df["inflamed"]\na, b, c, d = train_test_split(X, y, stratify=y)\n', line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        splits = random_splits(program)
        counted = list(_counted(program)) if splits else []
        for split in splits:
            for column in counted:
                if _is_beside(column, split) and not _is_used(program, column, split):
                    yield self.finding(program, split.node, self.message.format(column.name))
                    break


@dataclass(frozen=True)
class _Counted:
    """A column, or an array of a file, whose different values are counted."""

    name: str
    holder: Value
    value: Value


def _counted(program: Program) -> Iterator[_Counted]:
    for event in program.calls:
        call = event.call
        if call.method in _COUNTS:
            found = _column(call.receiver)
        elif call.qualified in _COUNTED_BY and call.args:
            found = _column(call.args[0])
        else:
            found = None
        if found is not None:
            yield found


def _column(value: Value | None) -> _Counted | None:
    value = same_numbers(resolved(value))
    if isinstance(value, Item) and getattr(resolved(value.key), "operator", "") == "slice":
        value = same_numbers(value.base)  # `f["patient"][:]`
    if isinstance(value, Item) and isinstance(constant(resolved(value.key)), str):
        return _Counted(constant(resolved(value.key)), resolved(value.base), value)
    if isinstance(value, Attribute) and any(
        isinstance(part, Call) and part.qualified.startswith(("pandas.", "polars."))
        for part in tables_behind(value.base)
    ):
        return _Counted(value.name, resolved(value.base), value)
    return None


def _is_beside(column: _Counted, split: RandomSplit) -> bool:
    """Does what is divided come from the same table or file, and is it another column of it?"""
    roots = {key_of(part) for part in tables_behind(column.holder)}
    for value in split.data[:1]:
        if any(_is_column(part, column) for part in (value, same_numbers(value))):
            return False
        if any(key_of(part) in roots for part in walk(value)):
            return True
    return False


def _is_column(value: Value, column: _Counted) -> bool:
    found = _column(value)
    return found is not None and found.name == column.name


def _is_used(program: Program, column: _Counted, split: RandomSplit) -> bool:
    """Is the column used for anything but being counted, or fed with the whole table?"""
    is_table = any(
        key_of(part) == key_of(column.holder) for value in split.data for part in tables_behind(value)
    )
    seen: set[int] = set()
    for event in program.events:
        waiting = [event.value]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            inside = list(parts_of(value))
            waiting.extend(inside)
            if isinstance(value, Call) and _feeds_whole(value, column, is_table):
                return True
            if not _only_counts(value) and any(_is_column(part, column) for part in inside):
                return True
            if isinstance(value, Item) and isinstance(resolved(value.key), Collection | Operation):
                names = [constant(resolved(part)) for part in getattr(resolved(value.key), "items", ())]
                if column.name in names or any(_is_column(part, column) for part in walk(value.key)):
                    return True
    return False


def _only_counts(value: Value) -> bool:
    """Counting, converting, showing, handing on."""
    if isinstance(value, Call):
        if (
            value.result is not None
            or value.method in (*_COUNTS, "unique", "value_counts", "mean")
            or value.qualified in (*_COUNTED_BY, "len", "print")
        ):
            return True
        return same_numbers(value) is not value
    if isinstance(value, Item):
        return getattr(resolved(value.key), "operator", "") == "slice"
    return isinstance(value, Collection) or (isinstance(value, Operation) and value.operator == "format")


def _feeds_whole(call: Call, column: _Counted, is_table: bool) -> bool:
    """Are all columns of the table turned into numbers at once?"""
    name = call.method or call.qualified.rpartition(".")[2]
    if name not in _WHOLE:
        return False
    given = call.receiver if call.method else next(iter(call.args), None)
    if given is None or (isinstance(resolved(given), Item) and _names_columns(resolved(given))):
        return False
    holders = {key_of(part) for part in tables_behind(column.holder)}
    return any(key_of(part) in holders for part in tables_behind(given))


def _names_columns(value: Value) -> bool:
    key = resolved(value.key) if isinstance(value, Item) else None
    if isinstance(key, Collection):
        return all(isinstance(constant(resolved(part)), str) for part in key.items)
    return isinstance(constant(key), str)
