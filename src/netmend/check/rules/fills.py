"""Missing values filled from rows that have nothing to do with them."""

from __future__ import annotations

import ast
import re

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Item, Operation, Value, constant, resolved
from netmend.program.meaning.operations import walk
from netmend.program.meaning.tables import is_read, source_of, steps, texts_of_arguments
from netmend.program.text.edit_source import Edits
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Fix

HEAD = "import pandas as pd\nimport torch\n\ndf = pd.read_csv('sensors.csv')\n"
POLARS = "import polars as pl\nimport torch\n\n"
_FILLS = ("ffill", "bfill", "forward_fill", "backward_fill", "pad", "backfill", "interpolate")
_BY_METHOD = {"method": ("ffill", "bfill", "pad", "backfill"), "strategy": ("forward", "backward")}
# What carries something from row to row: whoever does it by group knows that the table holds several series.
_BY_ROWS = frozenset(
    ("shift", "diff", "pct_change", "rolling", "ewm", "expanding", "cumsum", "cumcount", "ffill", "bfill")
)
# Calls behind which the rows still stand in the same order, each series after the other.
_KEEPING = frozenset(
    ("reset_index", "set_index", "copy", "assign", "astype", "rename", "drop", "fillna", "round", "replace", "with_columns", "select", "clone",
     "cast", "lazy", "collect", "with_row_index", "fill_null", "clip", "to_frame", "apply", "map")
)  # fmt: skip
# A sort by date and hour orders one series by time; it does not put several one after the other.
_TIME = re.compile(
    r"date|day|year|month|week|hour|minute|second|time|stamp|period|quarter|^ts$|^t$|^dt$|epoch|season", re.I
)


class FilledOverGroups(StaticRule, code="S920", cause="PRE-MISS-CLEAN"):
    """Gaps are filled from the row before (or after) in a table that holds several series, over the borders between them.

    The first rows of a device, shop or patient have nothing before them, so they inherit the last value of whoever stands above: a
    number that belongs to somebody else and looks like a measurement.

    Fill within each series: `df.groupby("device")["x"].ffill()`, in polars `pl.col("x").forward_fill().over("device")`.
    """

    message = "`{0}` runs over the borders between the values of `{1}`, so one takes over another's; fill within each: {2}."
    triggers = (*(f".{name}(" for name in _FILLS), ".fillna(", ".fill_null(")
    patterns = (r"\.(?:ffill|bfill|forward_fill|backward_fill|interpolate|fillna|fill_null)\(",)

    GOOD = (
        Snippet("within each", HEAD + "df = df.sort_values(['device', 'step'])\ndf['x'] = df.groupby('device')['x'].ffill()\n"),
        Snippet("one series", HEAD + "df = df.sort_values(['date', 'hour'])\ndf['x'] = df['x'].ffill()\n"),
        Snippet("one device", HEAD + "df = df.sort_values(['device', 'step'])\none = df[df['device'] == 'a']\none['x'] = one['x'].ffill()\n"),
        Snippet("each by itself in a loop", HEAD + "df = df.sort_values(['device', 'step'])\nparts = []\nfor name, part in df.groupby('device'):\n"
                "    parts.append(part.ffill())\ndf = pd.concat(parts)\n"),
        Snippet("over", POLARS + "df = pl.read_csv('a.csv').sort('device', 'step').with_columns(pl.col('x').forward_fill().fill_null(0.0).over('device'))\n"),
        Snippet("laid out wide before", HEAD + "df = df.sort_values(['device', 'step'])\nwide = df.pivot(index='step', columns='device', values='x')\nwide = wide.ffill()\n"),
        Snippet("merged cells of a sheet", HEAD + "df['device'] = df['device'].ffill()\ndf['lag'] = df.groupby('device')['x'].shift(1)\n"),
        Snippet("a second sort", HEAD + "df = df.sort_values(['device', 'step'])\ndf = df.sort_values('time')\ndf['x'] = df['x'].ffill()\n"),
    )  # fmt: skip
    BAD = (
        mended("sorted by device", HEAD + "df = df.sort_values(['device', 'step'])\ndf['x'] = ⟨df['x'] → df.groupby('device')['x']⟩.ffill()\n"),
        Snippet("sorted in place", HEAD + "df.sort_values(by=['station', 't'], inplace=True)\ndf['x'] = df['x'].fillna(method='ffill')\n", line=6),
        Snippet("lags by group", HEAD + "df['lag'] = df.groupby('shop')['sold'].shift(1)\ndf['price'] = df['price'].ffill()\n", line=6),
        Snippet("all columns", HEAD + "df = df.sort_values(['patient', 'visit']).reset_index(drop=True)\ndf = df.ffill().bfill()\n", line=6),
        mended("polars", POLARS + "def read(path):\n    return (\n        pl.read_csv(path)\n        .sort('device', 'step')\n"
               "        .with_columns(pl.col('x').forward_fill()⟨ → .over('device')⟩.fill_null(0.0))\n    )\n\ndf = read('a.csv')\n"),
        Snippet("polars, by strategy", POLARS + "df = pl.read_csv('a.csv').sort(['device', 'step'])\ndf = df.with_columns(x=pl.col('x').fill_null(strategy='forward'))\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            if not _is_fill(call) or call.receiver is None:
                continue
            column, frame = _filled(program, event)
            key = _series(program, frame, event.order) if frame is not None else ""
            if not key or column == key:
                continue
            node = event.node
            edits, instead = _within(program, call, key)
            yield self.finding(
                program,
                node,
                self.message.format(f"{call.method}()", key, instead),
                fix=Fix("Fill within each", edits),
            )


def _is_fill(call: Call) -> bool:
    if call.method in _FILLS:
        return True
    return call.method in ("fillna", "fill_null") and any(
        constant(call.keywords.get(name)) in ways for name, ways in _BY_METHOD.items()
    )


def _filled(program: Program, event: CallEvent) -> tuple[str, Value | None]:
    """The column that is filled ("" for all) and the table it is filled in."""
    call = event.call
    of = [part for part in steps(call.receiver) if isinstance(part, Call) and part.qualified == "polars.col"]
    if of:
        return constant(next(iter(of[0].args), None), ""), _around(program, call)
    column = resolved(call.receiver)
    return (constant(column.key, "") if isinstance(column, Item) else ""), call.receiver


def _around(program: Program, expression: Call) -> Value | None:
    """The polars table in whose `with_columns` or `select` an expression stands without `over`."""
    for event in program.methods_of("with_columns", "select"):
        for given in event.call.given:
            parts = list(walk(given))
            if any(part is expression for part in parts):
                is_apart = any(isinstance(part, Call) and part.method == "over" for part in parts)
                return None if is_apart else event.call.receiver
    return None


def _series(program: Program, table: Value, order: int) -> str:
    """The column whose values are series of their own in a table: it is sorted by it first, or shifted by it. "" where nothing says so."""
    for part in steps(table):
        if isinstance(part, Call) and not is_read(part):
            if part.method in ("sort_values", "sort"):
                return _first_of(texts_of_arguments(part))
            if part.method not in _KEEPING and not _is_fill(part):
                return ""
        elif isinstance(part, Item) and isinstance(resolved(part.key), Operation | Call):
            return ""  # a choice of rows: maybe of one series
        elif not isinstance(part, Call | Item):
            return ""
        sorted_here = _sorted_in_place(program, part, order)
        if sorted_here:
            return _first_of(sorted_here)
    source = source_of(table)
    return _carried_by(program).get(id(source), "") if source is not None else ""


def _first_of(keys: tuple[str, ...]) -> str:
    return keys[0] if len(keys) > 1 and not _TIME.search(keys[0]) else ""


def _sorted_in_place(program: Program, table: Value, order: int) -> tuple[str, ...]:
    for event in reversed(program.methods_of("sort_values")):
        call = event.call
        if (
            event.order < order
            and constant(call.keywords.get("inplace"))
            and resolved(call.receiver) is table
        ):
            return texts_of_arguments(call)
    return ()


@once
def _carried_by(program: Program) -> dict[int, str]:
    """Tables, by the call that read them, in which something is carried from row to row by group, and the group; unless it is filled in itself."""
    found: dict[int, str] = {}
    for event in program.methods_of("groupby"):
        keys, source = texts_of_arguments(event.call), source_of(event.call.receiver)
        if source is None or len(keys) != 1:
            continue
        for other in program.methods_of(*_BY_ROWS):
            if any(part is event.call for part in steps(other.call.receiver)):
                found.setdefault(id(source), keys[0])
    for store in program.stores:
        key, base, value = store.target.key, store.target.base, resolved(store.value)
        source = source_of(base) if base is not None else None
        if not isinstance(value, Call) or not _is_fill(value) or key is None or source is None:
            continue
        if found.get(id(source)) == constant(key):
            found.pop(id(source))
    return found


def _within(program: Program, call: Call, key: str) -> tuple[Edits, str]:
    """The edit that fills within each group, and how it is written."""
    node = call.node
    if node is None or not isinstance(node.func, ast.Attribute):
        return (), ""
    holder = node.func.value
    if any(isinstance(part, Call) and part.qualified == "polars.col" for part in steps(call.receiver)):
        return wrap(program, node, "", f".over({_quoted(program, key)})"), f'{call.method}().over("{key}")'
    instead = f'groupby("{key}")[…].{call.method}()'
    if isinstance(holder, ast.Subscript) and call.method in ("ffill", "bfill"):
        table = program.source(holder.value)
        return wrap(
            program, holder.value, "", f".groupby({_quoted(program, key)})"
        ), f'{table}.groupby("{key}")[…].{call.method}()'
    return (), instead


def _quoted(program: Program, text: str) -> str:
    """A text in the quotes that the program prefers."""
    mark = '"' if program.text.count('"') > program.text.count("'") else "'"
    return f"{mark}{text}{mark}"
