"""What a program learns from data: numbers for categories and words, columns for values, means and spreads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Function,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.fitting import OTHERS, SCALERS
from netmend.program.meaning.operations import parts_of, walk
from netmend.program.meaning.parts import flows, written_out

CODES, COLUMNS, DICTIONARY, STATISTICS = "codes", "columns", "dictionary", "statistics"

# Classes that number or spread the values they are fitted to; those of one letter case belong to scikit-learn.
ENCODERS = {
    "LabelEncoder": CODES, "OrdinalEncoder": CODES, "KBinsDiscretizer": CODES, "OneHotEncoder": COLUMNS, "LabelBinarizer": COLUMNS,
    "MultiLabelBinarizer": COLUMNS, "DictVectorizer": COLUMNS, "CountVectorizer": DICTIONARY, "TfidfVectorizer": DICTIONARY,
}  # fmt: skip
_FIXED = ("categories", "vocabulary", "classes", "bins", "labels")  # arguments with which nothing is learned
_FUNCTIONS = {
    "pandas.factorize": CODES, "pandas.qcut": CODES, "pandas.Categorical": CODES, "pandas.get_dummies": COLUMNS,
    "sklearn.preprocessing.scale": STATISTICS, "sklearn.preprocessing.minmax_scale": STATISTICS,
    "sklearn.preprocessing.robust_scale": STATISTICS, "sklearn.preprocessing.maxabs_scale": STATISTICS, "scipy.stats.zscore": STATISTICS,
    "sklearn.preprocessing.quantile_transform": STATISTICS, "sklearn.preprocessing.power_transform": STATISTICS,
    "torchtext.vocab.build_vocab_from_iterator": DICTIONARY,
}  # fmt: skip
_METHODS = {"factorize": CODES, "get_dummies": COLUMNS, "to_dummies": COLUMNS}
_CENTRES = frozenset(("mean", "nanmean", "min", "median", "nanmedian", "amin"))
_SPREADS = frozenset(("std", "nanstd", "max", "amax", "sum"))
_POLARS = "polars.col"


@dataclass(frozen=True)
class Learned:
    """Something is learned from data: `pd.factorize(train["smell"])`."""

    kind: str
    name: str  # what does it: "factorize", "LabelEncoder", "a dictionary"
    node: ast.AST
    data: Value | None
    estimator: Call | None = None
    event: CallEvent | None = None  # the fit of an estimator


def learned(program: Program, value: Value) -> Learned | None:
    """What is learned where a value is made; None where nothing is."""
    if isinstance(value, Call):
        return _by_call(program, value)
    if isinstance(value, Collection):
        return _by_dictionary(program, value)
    if isinstance(value, Operation):
        return _by_statistics(value)
    if isinstance(value, Attribute) and value.name == "codes" and value.node is not None:
        return _by_category(program, value)
    return None


def _by_call(program: Program, call: Call) -> Learned | None:
    if call.node is None or call.result is not None:
        return None
    if call.method in ("fit_transform", "transform") and estimator(_unfitted(call.receiver)):
        return _by_estimator(program, call)
    if call.method in _OF_COLUMNS and call.receiver is not None:
        return _by_columns(call, call.receiver)
    name = call.qualified or f".{call.method}"
    kind = _FUNCTIONS.get(call.qualified) or (_METHODS.get(call.method) if call.method else None)
    data = call.args[0] if call.qualified and call.args else call.receiver
    short = name.rpartition(".")[2]
    if call.qualified == "numpy.unique" and constant(call.keywords.get("return_inverse")) is True:
        kind, data = CODES, call.args[0] if call.args else None
    if kind is None or any(key in call.keywords for key in _FIXED if short != "qcut"):
        return None
    if kind == STATISTICS and not _over_rows(call, 1):
        return None
    return Learned(kind, short, call.node, data)


@once
def _fits(program: Program) -> dict[int, list[CallEvent]]:
    """Calls of `fit` and `fit_transform` of each estimator, in order."""
    found: dict[int, list[CallEvent]] = {}
    for event in program.methods_of("fit", "fit_transform"):
        made = resolved(event.call.receiver)
        if made is not None and estimator(made):
            found.setdefault(id(made), []).append(event)
    return found


@once
def _order(program: Program) -> dict[int, int]:
    return {id(event.call): event.order for event in program.methods_of("transform", "fit_transform")}


def estimator(made: Value | None) -> str:
    """What an estimator that was just made learns; "" where nothing is learned, or all of it was given."""
    if not isinstance(made, Call) or any(
        key in made.keywords and constant(made.keywords[key], "given") not in ("auto", None) for key in _FIXED
    ):
        return ""
    package, _, name = made.qualified.rpartition(".")
    if package.startswith("category_encoders") and name not in ("HashingEncoder",):
        return CODES
    if not package.startswith(("sklearn.", "cuml.")):
        return ""
    return ENCODERS.get(name) or (STATISTICS if name in SCALERS | OTHERS else "")


def _unfitted(made: Value | None) -> Value | None:
    """The estimator behind `StandardScaler().fit(x)`."""
    made = resolved(made)
    is_fit = isinstance(made, Call) and made.method == "fit" and made.receiver is not None
    return resolved(made.receiver) if is_fit and isinstance(made, Call) else made


_OF_COLUMNS = frozenset(("with_columns", "select", "apply", "transform", "map_batches"))


def _by_columns(call: Call, table: Value) -> Learned | None:
    """Columns of a table by an expression of polars or a function of each column: `df.apply(lambda c: c - c.mean())`."""
    if not is_whole(table):
        return None
    for part in (part for given in call.given for part in walk(given)):
        if isinstance(part, Function) and constant(call.argument("axis", 1), 0) in (0, "index"):
            node = _centred_by(part.definition)
            if node is not None:
                return Learned(STATISTICS, "mean", node, table)
        if (
            isinstance(part, Operation)
            and part.operator == "-"
            and len(part.operands) == 2
            and part.node is not None
        ):
            column, centre = map(resolved, part.operands)
            if not isinstance(centre, Call) or centre.method not in _CENTRES or centre.receiver is None:
                continue
            if _is_polars(column) and _same_column(column, resolved(centre.receiver)):
                return Learned(STATISTICS, centre.method, part.node, table)
    return None


def _is_polars(value: Value) -> bool:
    return isinstance(value, Call) and value.qualified == _POLARS


def _centred_by(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.AST | None:
    """Where a function takes the mean of its argument off it."""
    name = function.args.args[0].arg if function.args.args else ""
    for part in ast.walk(function):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            centre = ast.unparse(part.right)
            if ast.unparse(part.left) == name and any(centre == f"{name}.{way}()" for way in _CENTRES):
                return part
    return None


def _by_estimator(program: Program, call: Call) -> Learned | None:
    made = resolved(call.receiver)
    if isinstance(made, Call) and made.method == "fit" and made.receiver is not None:
        fit: Call | None = made
        made = resolved(made.receiver)
    else:
        at = _order(program).get(id(call))
        known = _fits(program).get(id(made), []) if at is not None else []
        last = [event for event in known if event.order <= (at or 0)]
        fit = last[-1].call if last else None
    kind = estimator(made)
    if not kind or fit is None or fit.node is None or not isinstance(made, Call):
        return None
    event = next((event for event in _fits(program).get(id(made), []) if event.call is fit), None)
    data = fit.args[0] if fit.args else None
    return Learned(kind, made.qualified.rpartition(".")[2], fit.node, data, made, event)


def _by_dictionary(program: Program, made: Collection) -> Learned | None:
    """`{word: place for place, word in enumerate(words)}`, or a dictionary that grows by `d[word] = len(d)`."""
    if made.kind != "dict" or made.node is None:
        return None
    for item in made.items:
        item = resolved(item)
        for part in walk(item):
            if isinstance(part, Element) and made.repeated:
                counted = resolved(part.iterable)
                if isinstance(counted, Call) and counted.qualified == "enumerate" and counted.args:
                    return Learned(DICTIONARY, "dictionary", made.node, counted.args[0])
    for key, item in flows(program).stored.get(id(made), ()):
        counts = isinstance(item, Call) and item.qualified == "len" and resolved(item.subject) is made
        if counts and item.node is not None and not isinstance(key, Const):
            return Learned(DICTIONARY, "dictionary", item.node, key)
    return None


def _by_category(program: Program, codes: Attribute) -> Learned | None:
    """`column.astype("category").cat.codes`, also where the column was stored as categories before."""
    base = resolved(codes.base)
    if isinstance(base, Call) and base.qualified == "pandas.Categorical" and codes.node is not None:
        return None  # told by the call itself
    if not isinstance(base, Attribute) or base.name != "cat" or codes.node is None:
        return None
    column = resolved(base.base)
    made = [column]
    if isinstance(column, Item):
        made = [resolved(value) for value in flows(program).column(column.base, column.key)]
    if not made or not all(_is_category(value) for value in made):
        return None
    source = made[-1]
    return Learned(CODES, "codes", codes.node, source.receiver if isinstance(source, Call) else None)


def _is_category(value: Value) -> bool:
    return (
        isinstance(value, Call)
        and value.method == "astype"
        and constant(value.argument("dtype", 0)) == "category"
    )


def _by_statistics(value: Operation) -> Learned | None:
    """`(x - x.mean()) / x.std()`, `x / x.max()`, also on columns of polars."""
    if value.operator not in ("-", "/") or len(value.operands) != 2 or value.node is None:
        return None
    names = _CENTRES if value.operator == "-" else _SPREADS - {"sum"}
    statistic = resolved(value.operands[1])
    if not isinstance(statistic, Call):
        return None
    name = statistic.method or statistic.qualified.rpartition(".")[2]
    source = statistic.subject
    if name not in names or source is None or not _over_rows(statistic, 0 if statistic.method else 1):
        return None
    one, other = same_numbers(source), same_numbers(value.operands[0])
    if _is_polars(one):
        return None  # told by the call that it is handed to
    if one is not other and not _same_column(one, other):
        return None
    if not is_whole(one):
        return None
    return Learned(STATISTICS, name, value.node, one)


def _same_column(one: Value, other: Value) -> bool:
    if isinstance(one, Item) and isinstance(other, Item):
        return same_key(one.key, other.key) and same_numbers(one.base) is same_numbers(other.base)
    if isinstance(one, Call) and isinstance(other, Call) and one.qualified == other.qualified == _POLARS:
        return len(one.args) == len(other.args) and all(map(same_key, one.args, other.args))
    return False


def same_key(one: Value | None, other: Value | None) -> bool:
    """Two constants that are equal, or the same value."""
    one, other = resolved(one), resolved(other)
    return one is other or (isinstance(one, Const) and isinstance(other, Const) and one.value == other.value)


def _over_rows(call: Call, position: int) -> bool:
    """Is a statistic taken over all rows, not within each of them?"""
    axis = call.keywords.get("axis") or call.keywords.get("dim") or call.argument("axis", position)
    if axis is None:
        return True
    axis = resolved(axis)
    if isinstance(axis, Collection):
        return bool(axis.items) and constant(axis.items[0]) == 0
    return isinstance(axis, Const) and axis.value in (0, None, "index") and axis.value is not False


def is_whole(data: Value) -> bool:
    """Is it a table, an array or a column of it as it was read or cut, and not one sample, group or window?"""
    line = roots(data)
    if any(isinstance(part, Call) and part.method in _OF_GROUPS for part in line):
        return False
    root = line[-1]
    if isinstance(root, Element):
        return written_out(root.iterable) is not None
    if not isinstance(root, Call):
        return False
    is_table = root.qualified.startswith(_TABLES)
    if any(isinstance(part, Item) and not _keeps_rows(part.key, is_table) for part in line):
        return False
    return not any(_is_of_loop(part) or _is_drawn(part) for part in walk(root))


_OF_GROUPS = frozenset(
    ("groupby", "group_by", "rolling", "expanding", "ewm", "apply", "over", "split", "unfold", "resample")
)
_DRAWING = frozenset(
    (
        "rand",
        "randn",
        "randint",
        "normal",
        "uniform",
        "standard_normal",
        "random",
        "integers",
        "arange",
        "linspace",
    )
)
_TABLES = ("pandas.", "polars.")


def _is_of_loop(value: Value) -> bool:
    """One of many: a file of a folder, a sample of a batch. The parts that a program writes out are not many."""
    if isinstance(value, Element):
        return written_out(value.iterable) is None
    return isinstance(value, Param | Unknown)


def _is_drawn(value: Value) -> bool:
    """Made-up data."""
    return isinstance(value, Call) and (value.method or value.qualified.rpartition(".")[2]) in _DRAWING


def _keeps_rows(key: Value, is_table: bool) -> bool:
    key = resolved(key)
    if isinstance(key, Collection) and key.kind == "tuple" and key.items:
        return _keeps_rows(key.items[0], is_table)
    if isinstance(key, Const | Collection | Operation):
        return True
    return is_table or isinstance(key, Call | Item)


def roots(value: Value | None) -> tuple[Value, ...]:
    """What a value is a part of, and that again, to the end: through columns, conversions and methods."""
    line: list[Value] = []
    while value is not None and len(line) < 40:
        value = same_numbers(value)
        line.append(value)
        if isinstance(value, Item | Attribute):
            value = value.base
        elif isinstance(value, Call) and not isinstance(value.receiver, Name):
            value = value.receiver
        else:
            break
    return tuple(line)


def same_data(one: Value | None, other: Value | None, depth: int = 40) -> bool:
    """Are two values made in the same way of the same things: of one file that is read twice, say?"""
    one, other = resolved(one), resolved(other)
    if one is other:
        return True
    if one is None or other is None or depth == 0 or type(one) is not type(other):
        return False
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    if isinstance(one, Name) and isinstance(other, Name):
        return one.qualified == other.qualified
    if isinstance(one, Attribute) and isinstance(other, Attribute) and one.name != other.name:
        return False
    if isinstance(one, Operation) and isinstance(other, Operation) and one.operator != other.operator:
        return False
    if isinstance(one, Param | Unknown | Instance):
        return False
    mine, its = list(_made_of(one)), list(_made_of(other))
    return (
        bool(mine)
        and len(mine) == len(its)
        and all(same_data(a, b, depth - 1) for a, b in zip(mine, its, strict=True))
    )


def _made_of(value: Value) -> Iterator[Value]:
    if isinstance(value, Call):
        yield value.function
        yield from value.given
    elif isinstance(value, Item):
        yield from (value.base, value.key)
    elif isinstance(value, Collection):
        yield from value.items
    else:
        yield from parts_of(value)
