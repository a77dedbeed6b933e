"""Lags and windows over a table that holds several series one in another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.library.series import SHIFTS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Attribute, Call, Const, Item, Value, constant, resolved
from netmend.program.meaning.columns import column, tables_behind, written_names
from netmend.program.meaning.offsets import name_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.reaches_of_calls import frames_of_expressions
from netmend.program.meaning.series_steps import is_grouped
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

PANDAS = 'import pandas as pd\nimport torch\ndf = pd.read_csv("sales.csv", parse_dates=["date"])\n'
POLARS = 'import polars as pl\nimport torch\ndf = pl.read_csv("sales.csv", try_parse_dates=True).sort("date", "store")\nprint(df["store"].n_unique(), "stores")\n'
_WINDOWS = frozenset(("rolling", "expanding", "ewm"))
_COUNTS = frozenset(("nunique", "n_unique", "unique", "isin", "is_in"))
_IN_GROUPS = frozenset(
    (*SHIFTS, *_WINDOWS, "cumcount", "ffill", "cumsum", "head", "tail", "transform", "rolling_mean")
)


class LagsAcrossSeries(StaticRule, code="S942", cause="PRE-WRONG-STEP"):
    """A lag or a rolling window runs over the rows of a table that holds several series: stores, machines, patients.

    The row before belongs to another series, or to another one wherever a series ends. Features and targets then say nothing about
    the own past of a row, and the forecast is poor, or its target lies elsewhere.

    Shift within each series: `df.groupby("store")["units"].shift(7)`, in polars `pl.col("units").shift(7).over("store")`.
    """

    message = "The table holds one series for each `{0}`, and this runs from one into the next; take it within each: {1}."
    triggers = ("shift(", "rolling", ".diff(", "pct_change(", ".ewm(")
    patterns = (r"\.(shift|rolling\w*|diff|pct_change|ewm)\(",)

    GOOD = (
        Snippet("within each store", PANDAS + 'df = df.sort_values(["store", "date"])\nprint(df["store"].nunique())\ndf["lag"] = df.groupby("store")["units"].shift(7)\n'),
        Snippet("one series, date and hour", PANDAS + 'df = df.sort_values(["date", "hour"])\ndf["lag"] = df["load"].shift(24)\ndf["usual"] = df.groupby("hour")["load"].transform("mean")\n'),
        Snippet("where a store ends", PANDAS + 'df = df.sort_values(["store", "date"])\nprint(df["store"].nunique())\ndf["lag"] = df["units"].shift(1)\ndf.loc[df["store"] != df["store"].shift(1), "lag"] = 0\n'),
        Snippet("one store is picked", PANDAS + 'df = df.sort_values(["store", "date"])\none = df[df["store"] == df["store"].unique()[0]]\nlag = one["units"].shift(1)\n'),
        Snippet("over", POLARS + 'df = df.with_columns(pl.col("units").shift(7).rolling_mean(28).over("store").alias("lag"))\n'),
        Snippet("of daily sums", PANDAS + 'df = df.sort_values(["store", "date"])\nprint(df["store"].nunique())\nday = df.groupby("date")["units"].sum().reset_index()\nday["lag"] = day["units"].shift(1)\n'),
    )  # fmt: skip
    BAD = (
        mended("sorted by store and date", PANDAS + 'df = df.sort_values(["store", "date"])\nprint(df["store"].nunique(), "stores")\ndf["lag"] = ⟨df → df.groupby("store")⟩["units"].shift(7)\n'),
        Snippet("rolling", PANDAS + 'df.sort_values(["date", "machine"], inplace=True)\nids = df["machine"].unique()\ndf["level"] = df["load"].rolling(24).mean()\n', line=6),
        mended("another column is taken in groups", PANDAS + 'df = df.sort_values(["patient", "date"])\ndf["seen"] = df.groupby("patient").cumcount()\ndf["step"] = ⟨df → df.groupby("patient")⟩["dose"].diff()\n'),
        mended("polars", POLARS + 'df = df.with_columns(⟨pl.col("units").shift(7) → pl.col("units").shift(7).over("store")⟩.alias("lag"))\n'),
        Snippet("the target", PANDAS + 'df = df.sort_values(["machine", "date"]).reset_index(drop=True)\ntest = df["machine"].isin(held)\ndf["y"] = df["load"].shift(-1)\n', line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for event in _runs(program):
            for table, series in _tables(program, event.call):
                entity = _entity(program, table)
                if entity and entity not in series and id(event.node) not in told:
                    told.add(id(event.node))
                    is_expression = id(table) in {
                        id(frame) for frame in frames_of_expressions(program).values()
                    } and not _is_item(event.call)
                    better = f'.over("{entity}")' if is_expression else f'df.groupby("{entity}")["…"]'
                    yield self.finding(
                        program,
                        event.node,
                        self.message.format(entity, better),
                        fix=_fix(program, event, entity, is_expression),
                    )


def _runs(program: Program) -> Iterator[CallEvent]:
    """Lags and windows that are taken row by row, the first step of each chain."""
    within = {id(part) for event in program.methods_of("over") for part in walk(event.call)}
    for event in program.calls:
        call = event.call
        runs = call.method in SHIFTS or call.method in _WINDOWS or call.method.startswith("rolling_")
        if runs and call.receiver is not None and id(call) not in within and not is_grouped(call.receiver):
            before = resolved(call.receiver)
            if not (
                isinstance(before, Call) and (before.method in SHIFTS or before.method.startswith("rolling_"))
            ):
                yield event


def _is_item(call: Call) -> bool:
    return isinstance(resolved(call.receiver), Item | Attribute)


def _tables(program: Program, call: Call) -> Iterator[tuple[Value, set[str]]]:
    """The table whose rows a step runs over, and the columns it takes."""
    series = resolved(call.receiver)
    if isinstance(series, Item):
        names = set(written_names(program, series.key))
        if names:
            yield resolved(series.base), names
    elif isinstance(series, Attribute):
        yield resolved(series.base), {series.name}
    else:
        for part in walk(series):
            table = frames_of_expressions(program).get(id(part))
            if table is not None and isinstance(part, Call):
                yield table, {name_of(given) for given in part.args}


def _entity(program: Program, table: Value) -> str:
    """The column that tells the series of a table apart: one it is sorted by, and that the program counts or takes in groups."""
    behind = list(tables_behind(table))
    if any(isinstance(step, Item) and _picks_rows(step) for step in behind):
        return ""
    keys = _sorted_by(program, behind)
    if len(keys) < 2:
        return ""
    evidence = _entities(program)
    for name in keys:
        if name in evidence and not _is_of_time(program, table, name):
            return name
    return ""


def _picks_rows(item: Item) -> bool:
    """`df[df["store"] == 3]`: what is left may be one series."""
    return getattr(resolved(item.key), "operator", "") in ("==", "&")


def _sorted_by(program: Program, behind: list[Value]) -> list[str]:
    for step in behind:
        if isinstance(step, Call) and step.method in ("sort_values", "sort", "sort_by"):
            return _keys(program, step)
        for event in program.methods_of("sort_values"):
            call = event.call
            if constant(call.keywords.get("inplace")) is True and resolved(call.receiver) is step:
                return _keys(program, call)
    return []


def _keys(program: Program, call: Call) -> list[str]:
    given = [*call.args, *(call.keywords[name] for name in ("by",) if name in call.keywords)]
    return [name for value in given for name in written_names(program, value)]


@once
def _entities(program: Program) -> frozenset[str]:
    """Columns that tell series apart: their different values are counted or picked, or lags are taken within them elsewhere."""
    found: set[str] = set()
    bounded: set[str] = set()
    for event in program.calls:
        call = event.call
        name = _column_name(call.receiver)
        if call.method in _COUNTS and name:
            found.add(name)
        if call.method in (*SHIFTS, "ne", "duplicated") and name:
            bounded.add(name)  # where one series ends and the next begins is looked at
        if call.method == "over" or call.method in _IN_GROUPS:
            found.update(_group_keys(program, call))
    return frozenset(found - bounded)


def _column_name(value: Value | None) -> str:
    value = resolved(value)
    if isinstance(value, Item):
        return name_of(value.key)
    if isinstance(value, Attribute):
        return value.name
    if isinstance(value, Call) and value.qualified in ("polars.col", "polars.column") and value.args:
        return name_of(value.args[0])
    return ""


def _group_keys(program: Program, call: Call) -> Iterator[str]:
    if call.method == "over":
        series = resolved(call.receiver)
        if any(
            isinstance(part, Call) and (part.method in _IN_GROUPS or part.method.startswith("rolling_"))
            for part in walk(series)
        ):
            for given in call.args:
                yield from written_names(program, given)
        return
    if constant(call.args[0] if call.args else None) is not None and call.method == "transform":
        return  # a statistic of each group says nothing about an order
    part = resolved(call.receiver)
    while isinstance(part, Item):
        part = resolved(part.base)
    if isinstance(part, Call) and part.method in ("groupby", "group_by") and part.args:
        keys = list(written_names(program, part.args[0]))
        if len(keys) == 1:
            yield from keys


def _is_of_time(program: Program, table: Value, name: str) -> bool:
    """Was a column computed from a date: hour, day, week?"""
    found = column(program, table, Const(name))
    return found.value is not None and any(
        isinstance(part, Attribute) and part.name == "dt" for part in walk(found.value)
    )


def _fix(program: Program, event: CallEvent, entity: str, is_expression: bool) -> Fix | None:
    node = event.node
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or not program.module.holds(node)
    ):
        return None
    title = f"Take it within each {entity}"
    if is_expression:
        whole: ast.Call = node
        above = program.parent(program.parent(whole) or whole)
        while (
            isinstance(above, ast.Call)
            and isinstance(above.func, ast.Attribute)
            and above.func.value is whole
            and above.func.attr not in ("alias", "over")
        ):
            whole, above = above, program.parent(program.parent(above) or above)
        return Fix(title, replace(program, whole, f'{program.source(whole)}.over("{entity}")'))
    series = node.func.value
    if node.func.attr in SHIFTS and isinstance(series, ast.Subscript):
        return Fix(
            title, replace(program, series.value, f'{program.source(series.value)}.groupby("{entity}")')
        )
    return None
