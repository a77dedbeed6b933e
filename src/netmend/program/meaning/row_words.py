"""What the words around a table say: which rows a key picks, what a sort goes by, what is changed in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator

from netmend.program.engine.history import CallEvent
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
from netmend.program.meaning.operations import parts_of, walk

ORDER_BY = re.compile(r"\border\s+by\s+(.+?)(?:\blimit\b|;|$)", re.IGNORECASE | re.DOTALL)
_MOST_STEPS = 60


@once
def changed_in_place(program: Program) -> dict[int, list[CallEvent]]:
    found: dict[int, list[CallEvent]] = {}
    for event in program.calls:
        call = event.call
        if call.receiver is None:
            continue
        in_place = constant(resolved(call.keywords.get("inplace")), False) is True
        listed = (
            call.method == "sort"
            and isinstance(resolved(call.receiver), Call | Collection)
            and event.value.node is not None
        )
        statement = isinstance(program.parent(event.node), ast.Expr) if listed else False
        if in_place or statement:
            found.setdefault(id(resolved(call.receiver)), []).append(event)
    return found


def line_of(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)


def words_of(value: Value | None) -> str:
    """The words of an expression: two of the same words do the same."""
    value = resolved(value)
    if value is None or value.node is None:
        return ""
    if isinstance(value, Const):
        return str(value.value)
    if isinstance(value, Collection) and len(value.items) == 1:
        return words_of(value.items[0])
    return ast.unparse(value.node)


def arguments_of(value: Call) -> str:
    return ", ".join(
        [
            *map(words_of, value.args),
            *(f"{name}={words_of(given)}" for name, given in sorted(value.keywords.items())),
        ]
    )


def columns_of(order: str) -> str:
    """`b.started_at ASC` as `started_at`."""
    parts = [
        re.sub(r"\s+asc$", "", part.strip(), flags=re.IGNORECASE).rpartition(".")[2]
        for part in order.split(",")
    ]
    return ", ".join(part.lower() for part in parts)


def drops_rows(value: Call) -> bool:
    if "index" in value.keywords:
        return True
    axis = value.argument("axis", 1)
    return (
        "columns" not in value.keywords
        and constant(resolved(axis), 0) not in (1, "columns")
        and not is_of_polars(value)
    )


def is_of_polars(value: Value | None) -> bool:
    return any(isinstance(part, Call) and part.qualified.startswith("polars.") for part in walk(value))


def maker_of(value: Value) -> str:
    """The library's name of what an object was made as, behind `.fit(…)` and `.set_output(…)`."""
    while isinstance(value, Call) and value.method in ("fit", "set_params"):
        value = resolved(value.receiver) or value
    return value.qualified if isinstance(value, Call) else ""


def grouping_of(value: Value) -> Call | None:
    """`df.groupby("user")`, or some columns of it."""
    value = resolved(value.base) if isinstance(value, Item) else value
    return value if isinstance(value, Call) and value.method in ("groupby", "group_by") else None


def with_keys(value: Value) -> Iterator[Value]:
    yield from parts_of(value)
    if isinstance(value, Item):
        yield value.key


def run_through(value: Value) -> Value | None:
    """What `enumerate(files)` and `tqdm(files)` run over."""
    is_shell = isinstance(value, Call) and value.qualified.rpartition(".")[2] in (
        "enumerate",
        "tqdm",
        "track",
        "iter",
    )
    return value.args[0] if isinstance(value, Call) and is_shell and value.args else None


def is_whole(key: Value) -> bool:
    return (
        isinstance(key, Operation)
        and key.operator == "slice"
        and all(isinstance(bound, Const) and bound.value is None for bound in key.operands)
    )


_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "&", "|", "~", "not", "invert", "and", "or", "in"))
_ASKING = frozenset(
    ("isin", "isna", "isnull", "notna", "notnull", "between", "duplicated", "contains", "startswith", "endswith", "eq", "ne", "gt", "ge", "lt", "le",
     "isfinite", "logical_and", "logical_or", "logical_not", "isnan", "match", "any", "all")
)  # fmt: skip


def is_mask(key: Value) -> bool:
    if isinstance(key, Operation):
        return key.operator in _COMPARING
    return isinstance(key, Call) and (key.method or key.qualified.rpartition(".")[2]) in _ASKING


def is_drawn(key: Value, *, sorts: bool = True) -> bool:
    """Places in an order that was drawn at random; or, with `sorts`, computed."""
    made = key
    while isinstance(made, Item):
        made = resolved(made.base)
    name = (made.method or made.qualified).rpartition(".")[2] if isinstance(made, Call) else ""
    return name in ("permutation", "randperm") or (sorts and name in ("argsort", "choice"))


def draw_of(value: Call) -> Hashable:
    """Two draws of one seed give one order."""
    seed = value.keywords.get("random_state") or value.keywords.get("seed")
    known = words_of(seed)
    return (value.method or value.qualified, known) if seed is not None and known else id(value)


def first_key(item: Item) -> Value:
    """The key of the rows: `i` of `table.loc[i, "y"]`."""
    key = resolved(item.key)
    if isinstance(key, Collection) and key.kind == "tuple" and key.items:
        return resolved(key.items[0])
    return key


def without_locator(base: Value) -> Value:
    """`table` of `table.iloc`."""
    base = resolved(base)
    is_locator = isinstance(base, Attribute) and base.name in ("loc", "iloc", "at", "iat")
    return resolved(base.base) if isinstance(base, Attribute) and is_locator else base


def is_of_pandas(value: Value) -> bool:
    """Is it a table or a column of pandas, as far as the text tells?"""
    value = resolved(value)
    for _ in range(_MOST_STEPS):
        if isinstance(value, Call):
            if value.qualified.startswith("pandas."):
                return True
            if value.method in ("to_numpy", "tolist", "to_list") or value.receiver is None:
                return False
            value = resolved(value.receiver)
        elif isinstance(value, Item):
            value = resolved(value.base)
        elif isinstance(value, Attribute):
            if value.name == "values":
                return False
            value = resolved(value.base)
        else:
            return False
    return False
