"""What a program learns from data: numbers for categories and words, columns for values, means and spreads."""

from __future__ import annotations

import ast
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
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.fitting import OTHERS, SCALERS
from netmend.program.meaning.operations import walk
from netmend.program.meaning.parts import flows
from netmend.program.meaning.wholes import is_of_table, is_whole, same_key

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
_METHODS = {"rank": STATISTICS, "factorize": CODES, "get_dummies": COLUMNS, "to_dummies": COLUMNS}
_CENTRES = frozenset(("mean", "nanmean", "min", "median", "nanmedian", "amin"))
_SPREADS = frozenset(("std", "nanstd", "max", "amax", "sum"))
_EXTREMES = frozenset(("min", "max", "amin", "amax"))
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

    @property
    def is_sorted(self) -> bool:
        """Are values numbered in their own order, so that parts with the same values get the same numbers?"""
        if self.kind == DICTIONARY:
            return self.name in ("dictionary", "list") and any(map(_sorts, walk(self.data)))
        return self.kind in (CODES, COLUMNS) and self.name not in ("factorize", "qcut", "KBinsDiscretizer")


def _sorts(value: Value) -> bool:
    return isinstance(value, Call) and (
        value.qualified in ("sorted", "numpy.unique") or value.method == "sort"
    )


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
    if call.method in ("fillna", "fill_null", "clip") and call.receiver is not None:
        return _by_filling(call, call.receiver)
    if call.method == "index" and call.receiver is not None:
        return _by_list(call.receiver)
    if call.method == "setdefault" and len(call.args) == 2:
        counts = resolved(call.args[1])
        is_counted = isinstance(counts, Call) and resolved(counts.subject) is resolved(call.receiver)
        return Learned(DICTIONARY, "dictionary", call.node, call.args[0]) if is_counted else None
    if call.qualified == "collections.defaultdict" and call.args:
        factory = resolved(call.args[0])
        is_counted = isinstance(factory, Function) and "len(" in ast.unparse(factory.definition)
        return Learned(DICTIONARY, "dictionary", call.node, call) if is_counted else None
    name = call.qualified or f".{call.method}"
    kind = _FUNCTIONS.get(call.qualified) or (_METHODS.get(call.method) if call.method else None)
    data = call.args[0] if call.qualified and call.args else call.receiver
    short = name.rpartition(".")[2]
    if call.qualified == "numpy.unique" and constant(call.keywords.get("return_inverse")) is True:
        kind, data = CODES, call.args[0] if call.args else None
    if kind is None or any(key in call.keywords for key in _FIXED if short != "qcut"):
        return None
    if kind == STATISTICS and (data is None or not _over_rows(call, 1) or not is_whole(data)):
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


def _by_filling(call: Call, table: Value) -> Learned | None:
    """`x.fillna(x.median())`, `x.clip(x.quantile(0.01), x.quantile(0.99))`"""
    one = same_numbers(table)
    for given in call.given:
        statistic = resolved(given)
        while isinstance(statistic, Item | Attribute):
            statistic = resolved(statistic.base)  # `x.mode()[0]`
        if isinstance(statistic, Call) and statistic.method in _FILLINGS and call.node is not None:
            other = same_numbers(statistic.receiver)
            if other is not None and (one is other or _same_column(one, other)) and is_whole(one):
                return Learned(STATISTICS, f"{call.method}({statistic.method})", call.node, one)
    return None


_FILLINGS = frozenset(("mean", "median", "mode", "quantile", "min", "max"))


def _by_list(names: Value) -> Learned | None:
    """`names.index(x)` with names that were gathered from data: `sorted(set(column))`."""
    names = resolved(names)
    gathered = [part for part in walk(names) if isinstance(part, Call) and _gathers(part)]
    if not gathered or names.node is None or not (gathered[-1].subject is not None):
        return None
    return Learned(DICTIONARY, "list", names.node, gathered[-1].subject)


def _gathers(call: Call) -> bool:
    return call.qualified in ("set", "numpy.unique", "pandas.unique") or call.method == "unique"


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
    if isinstance(statistic, Attribute) and statistic.name == "values":
        statistic = resolved(statistic.base)  # `x.max(dim=0).values`
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
    is_of_all = not statistic.keywords and len(statistic.args) == (0 if statistic.method else 1)
    if is_of_all and name in _EXTREMES and not is_of_table(one):
        return None  # one number for all pixels: the same in every part
    if not is_whole(one):
        return None
    return Learned(STATISTICS, name, value.node, one)


def _same_column(one: Value, other: Value) -> bool:
    if isinstance(one, Item) and isinstance(other, Item):
        return same_key(one.key, other.key) and same_numbers(one.base) is same_numbers(other.base)
    if isinstance(one, Call) and isinstance(other, Call) and one.qualified == other.qualified == _POLARS:
        return len(one.args) == len(other.args) and all(map(same_key, one.args, other.args))
    return False


def _over_rows(call: Call, position: int) -> bool:
    """Is a statistic taken over all rows, not within each of them?"""
    axis = call.keywords.get("axis") or call.keywords.get("dim") or call.argument("axis", position)
    if axis is None:
        return True
    axis = resolved(axis)
    if isinstance(axis, Collection):
        return bool(axis.items) and constant(axis.items[0]) == 0
    return isinstance(axis, Const) and axis.value in (0, None, "index") and axis.value is not False
