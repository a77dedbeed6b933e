"""Follows the rows of a table from the place where it was read, through every call that keeps, takes, sorts or mixes them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from netmend.library import row_calls as names
from netmend.program.engine.history import EXIT, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning import row_words
from netmend.program.meaning.arrays import SPLIT
from netmend.program.meaning.operations import behind, reached
from netmend.program.meaning.row_orders import ANY, DRAWN, MIXED, SOME, SORTED, Rows, Step, Table

_MOST_DEEP = 60  # steps back


def table_of(program: Program, value: Value | None) -> Table | None:
    """The rows of a value; None where they cannot be told."""
    return _Reader(program).table(value, 0) if value is not None else None


class _Reader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[int, Table | None] = program.answers.setdefault("tables", {})
        self._asking: list[Value] = []

    def table(self, value: Value, depth: int) -> Table | None:
        value = resolved(value)
        if depth > _MOST_DEEP or self._is_changed_later(value):
            return None
        key = id(value)
        if key not in self.known:
            self.known[key] = None
            self._asking.append(value)
            made = self._read(value, depth + 1)
            self.known[key] = self._in_place(value, made) if made is not None else None
            self._asking.pop()
        return self.known[key]

    def _is_changed_later(self, value: Value) -> bool:
        """Was it asked for before a call that changes it in place?"""
        events = row_words.changed_in_place(self.program).get(id(value), ())
        return bool(events and self._asking) and row_words.line_of(self._asking[-1].node) < max(
            row_words.line_of(event.node) for event in events
        )

    def _read(self, value: Value, depth: int) -> Table | None:
        if isinstance(value, Call):
            return self._call(value, depth)
        if isinstance(value, Item):
            return self._item(value, depth)
        if isinstance(value, Attribute):
            base = self.table(value.base, depth)
            if base is None:
                return None
            if value.name in ("values", "array"):
                return base.array()
            return base if value.name in ("str", "dt", "cat") else None
        if isinstance(value, Operation):
            return self._agreed([self.table(part, depth) for part in value.operands])
        if isinstance(value, Either):
            return self._agreed([self.table(option, depth) for option in value.options], every=True)
        if isinstance(value, Collection):
            return self._listed(value, depth)
        return None

    @staticmethod
    def _agreed(parts: Iterable[Table | None], *, every: bool = False) -> Table | None:
        parts = list(parts)
        known = [part for part in parts if part is not None]
        if not known or (every and len(known) < len(parts)):
            return None
        first = max(known, key=lambda part: part.labels is not None)
        return first if all(part.rows == first.rows for part in known) else None

    # -- calls

    def _call(self, value: Call, depth: int) -> Table | None:
        name = value.qualified
        if value.method:
            return self._method(value, depth)
        short = name.rpartition(".")[2]
        if name.startswith(names.SQL_READERS) and value.args:
            return self._query(value, value.args[0], labelled=name.startswith("pandas"))
        if name.startswith(names.READERS):
            rows = Rows(value)
            is_plain = name.startswith("pandas.") and not {"index_col", "iterator", "chunksize"} & set(
                value.keywords
            )
            return Table(rows, rows if is_plain else None, False, value.node)
        if name in names.TEXT_READERS and not any(
            isinstance(resolved(given), Element) for given in value.args
        ):
            return Table(Rows(value))
        if name == "numpy.load" and value.args and isinstance(resolved(value.args[0]), Const):
            return Table(Rows(value))
        if name in ("pandas.merge", "pandas.merge_asof"):
            return Table(Rows(value), Rows(value), False, value.node)
        if name in names.LISTINGS:
            return Table(Rows(value, (Step(ANY, id(value), value.node),)))
        first = self.table(value.args[0], depth) if value.args else None
        if name == "sorted":
            source = first.rows if first is not None else None
            if (
                source is None
                or "reverse" in value.keywords
                or not any(step.kind == ANY for step in source.steps)
            ):
                return None
            return Table(
                source.then(Step(SORTED, row_words.words_of(value.keywords.get("key")) or "text", value.node))
            )
        if name in ("pandas.DataFrame", "pandas.Series"):
            return self._framed(value, first, depth)
        if first is None:
            return self._stacked(value, short, depth)
        if name in ("pandas.get_dummies", "pandas.to_numeric", "pandas.to_datetime"):
            return first
        if name == "sklearn.utils.shuffle":
            return (
                first.taken(Step(MIXED, row_words.draw_of(value), value.node))
                if len(value.args) == 1
                else None
            )
        if name in ("list", "tuple", "enumerate", "iter") or short in ("tqdm", "track"):
            return first.array()
        if name.startswith(("numpy.", "torch.")):
            return first.array() if short in names.ARRAYS else first if short in names.ELEMENTWISE else None
        return None

    def _stacked(self, value: Call, short: str, depth: int) -> Table | None:
        """`np.column_stack([a, b])`, `torch.stack(rows)`."""
        if short not in ("column_stack", "hstack", "dstack", "concat") or not value.args:
            return None
        listed = resolved(value.args[0])
        if not isinstance(listed, Collection) or listed.open:
            return None
        if short == "concat" and constant(value.keywords.get("axis")) not in (1, "columns"):
            return None
        parts = [self.table(item, depth) for item in listed.items]
        made = self._agreed(parts)
        return made if made is None or value.qualified.startswith("pandas.") else made.array()

    def _framed(self, value: Call, first: Table | None, depth: int) -> Table | None:
        """`pd.DataFrame(array, columns=…)` numbers rows from 0 on, unless it is given labels."""
        if value.open:
            return None
        is_column = value.qualified.endswith("Series")
        index = value.argument("index", 1)
        labels = self._labels(index, depth) if index is not None else None
        if index is not None and labels is None:
            return None
        if first is None and labels is not None and not value.args:
            return Table(
                labels.rows, labels.labels, is_column, labels.numbered
            )  # `pd.DataFrame(index=df.index)`
        if first is None:
            return None
        if first.labels is not None and labels is None:
            return replace(first, is_column=is_column)
        if labels is not None:
            return (
                Table(first.rows, labels.labels, is_column, labels.numbered) if first.labels is None else None
            )
        if row_words.is_of_pandas(value.args[0]):
            return None  # of a table whose labels are not known
        return replace(first, is_column=is_column).anew(value.node)

    def _labels(self, index: Value, depth: int) -> Table | None:
        """The table whose labels `df.index` are."""
        index = resolved(index)
        return (
            self.table(index.base, depth) if isinstance(index, Attribute) and index.name == "index" else None
        )

    def _query(self, value: Call, query: Value, *, labelled: bool) -> Table:
        text = constant(resolved(query))
        order = row_words.ORDER_BY.findall(text) if isinstance(text, str) else []
        steps = (Step(SORTED, row_words.columns_of(order[-1]), value.node),) if order else ()
        rows = Rows(value, steps)
        return Table(rows, rows if labelled else None, False, value.node)

    def _method(self, value: Call, depth: int) -> Table | None:
        method, receiver = value.method, resolved(value.receiver)
        if receiver is None:
            return None
        if method in ("execute", "executemany") and value.args:
            return self._query(value, value.args[0], labelled=False)
        if (
            method in names.LISTING_METHODS
            and value.args
            and "/" not in str(constant(value.args[0], "/")[:0])
        ):
            return Table(Rows(value, (Step(ANY, id(value), value.node),)))
        if method == "iterdir":
            return Table(Rows(value, (Step(ANY, id(value), value.node),)))
        if method in names.TRANSFORMS and value.args and not isinstance(receiver, Item):
            maker = row_words.maker_of(receiver)
            if maker.startswith(("sklearn.", "category_encoders.", "umap.")):
                first = self.table(value.args[0], depth)
                return first.array() if first is not None else None
        if method in names.AGGREGATES and (grouped := row_words.grouping_of(receiver)) is not None:
            return self._aggregate(value, grouped)
        if method == "fetchall":
            return self._fetched(value, receiver, depth)
        table = self.table(receiver, depth)
        if table is None or value.open:
            return None
        if method in ("merge", "join", "join_asof"):
            is_plain = method == "merge" and not {"left_index", "right_index"} & set(value.keywords)
            return Table(Rows(value), Rows(value) if is_plain else None, False, value.node)
        return self._changed(value, method, table)

    def _fetched(self, value: Call, receiver: Value, depth: int) -> Table | None:
        made = self.table(receiver, depth)
        if made is not None:
            return made
        # `cursor.execute(query)`, then `cursor.fetchall()`
        asked = [event.call for event in self.program.methods_of("execute")
                 if resolved(event.call.receiver) is receiver and row_words.line_of(event.node) <= row_words.line_of(value.node)]  # fmt: skip
        return self.table(asked[-1], depth) if asked else None

    def _aggregate(self, value: Call, grouped: Call) -> Table | None:
        rows = Rows(value)
        if grouped.method == "group_by":
            if constant(resolved(grouped.keywords.get("maintain_order")), False) is not False:
                return None
            return Table(rows.then(Step(ANY, id(value), grouped.node)))
        key = (
            row_words.words_of(grouped.args[0])
            if grouped.args
            else row_words.words_of(grouped.keywords.get("by"))
        )
        if constant(resolved(grouped.keywords.get("sort")), True) is not True or not key:
            return None
        return Table(rows.then(Step(SORTED, key, grouped.node)))

    def _changed(self, value: Call, method: str, table: Table) -> Table | None:
        step: Step | None = None
        if method in names.SOME_ROWS or (method == "drop" and row_words.drops_rows(value)):
            if method in ("nlargest", "nsmallest"):
                return None
            step = Step(SOME, (method, row_words.arguments_of(value)), value.node)
        elif method in names.SORTS:
            if not value.args and "by" not in value.keywords and method == "sort_values":
                by = "values"
            else:
                by = (
                    row_words.words_of(value.args[0])
                    if value.args
                    else row_words.words_of(value.keywords.get("by"))
                )
            if "ascending" in value.keywords or "descending" in value.keywords:
                by = f"{by} {row_words.words_of(value.keywords.get('ascending') or value.keywords.get('descending'))}"
            step = Step(SORTED, by, value.node)
        elif method == "sample":
            step = Step(MIXED, row_words.draw_of(value), value.node)
        elif method == "reset_index":
            return table.anew(value.node) if table.rows is not None else None
        elif method == "drop" or method in names.SAME_ROWS:
            return replace(table, is_column=table.is_column or method in ("pop", "squeeze"))
        elif method in names.TO_ARRAY:
            return table.array() if method != "astype" else table
        if step is None:
            return None
        after = table.taken(step)
        is_numbered = constant(resolved(value.keywords.get("ignore_index")), False) is True
        return after.anew(value.node) if is_numbered and after.labels is not None else after

    # -- picking

    def _item(self, value: Item, depth: int) -> Table | None:
        base, key = resolved(value.base), resolved(value.key)
        if isinstance(base, Call) and base.qualified == SPLIT:
            return self._split(value, base, key, depth)
        is_located = isinstance(base, Attribute) and base.name in ("loc", "iloc")
        table = self.table(base.base if is_located and isinstance(base, Attribute) else base, depth)
        if table is None:
            return None
        is_frame = table.labels is not None or row_words.is_of_pandas(base)
        column = False
        if isinstance(key, Collection) and key.kind == "tuple":
            if not key.items or not (is_located or not is_frame):
                return None
            column = len(key.items) > 1 and isinstance(resolved(key.items[1]), Const)
            key = resolved(key.items[0])
        elif isinstance(key, Const) and isinstance(key.value, str):
            return replace(table, is_column=True) if not is_located else None
        elif isinstance(key, Collection) and key.kind == "list" and not is_located:
            return (
                table
                if is_frame or all(isinstance(constant(resolved(item)), str) for item in key.items)
                else None
            )
        elif is_frame and not is_located and not row_words.is_mask(key):
            return None
        if row_words.is_whole(key):
            return replace(table, is_column=column)
        if isinstance(key, Const):
            return None
        if isinstance(key, Operation) and key.operator == "slice":
            return table.taken(Step(SOME, ("slice", row_words.words_of(key)), value.node))
        if row_words.is_drawn(key, sorts=False):
            return replace(table.taken(Step(MIXED, (DRAWN, id(key)), value.node)), is_column=column)
        if isinstance(key, Call) and (key.method or key.qualified).rpartition(".")[2] == "argsort":
            return replace(table.taken(Step(SORTED, id(key), value.node)), is_column=column)
        kind = SOME if row_words.is_mask(key) else MIXED
        if is_located and kind == MIXED and not row_words.is_drawn(key):
            return None
        made = table.taken(Step(kind, row_words.words_of(key) if kind == SOME else id(key), value.node))
        return replace(made, is_column=column or made.is_column)

    def _split(self, value: Item, split: Call, key: Value, depth: int) -> Table | None:
        place = constant(key)
        if not isinstance(place, int) or not 0 <= place < 2 * len(split.args) or split.open:
            return None
        table = self.table(split.args[place // 2], depth)
        return table.taken(Step(MIXED, (id(split), place % 2), value.node)) if table is not None else None

    # -- lists

    def _listed(self, value: Collection, depth: int) -> Table | None:
        """`[load(f) for f in files]`, or a list that a loop over the files fills."""
        if value.kind not in ("list", "generator"):
            return None
        if value.repeated and isinstance(value.node, ast.ListComp | ast.GeneratorExp):
            if len(value.node.generators) != 1 or len(value.items) != 1:
                return None
            generator = value.node.generators[0]
            table = self._run_over(value.items[0], generator.target, depth)
            if table is not None and generator.ifs:
                table = table.taken(Step(SOME, ast.unparse(generator.ifs[0]), value.node))
            return table.array() if table is not None else None
        return self._filled(value, depth)

    def _run_over(self, value: Value, target: ast.AST, depth: int) -> Table | None:
        """The rows that a comprehension runs over, as its items use them."""
        elements = [part for part in reached(value, row_words.with_keys) if isinstance(part, Element)]
        elements.sort(key=lambda part: part.node is not target)
        tables = (self.table(part.iterable, depth) for part in elements)
        return next((table for table in tables if table is not None), None)

    def _filled(self, value: Collection, depth: int) -> Table | None:
        """A list to which one line of a loop appends."""
        appended = [
            event for event in self.program.methods_of("append") if resolved(event.call.receiver) is value
        ]
        loops = appended[0].loops() if len(appended) == 1 else ()
        if len(loops) != 1 or loops[0].iterable is None:
            return None
        iterable = behind(loops[0].iterable, row_words.run_through)
        table = self._counted(appended[0].call.args, loops[0].iterable, depth) or self.table(iterable, depth)
        if table is None:
            return None
        skips = any(event.kind == EXIT for event in loops[0].body.events())
        if skips or not always(appended[0], loops[0]):
            table = table.taken(Step(SOME, id(appended[0].block), appended[0].node))
        return table.array()

    def _counted(self, values: Iterable[Value], counter: Value, depth: int) -> Table | None:
        """The rows of `names[i]` and `table.loc[i, "y"]` in a loop over the numbers i."""
        counter = resolved(counter)
        for value in values:
            for part in reached(value, row_words.with_keys):
                key = row_words.first_key(part) if isinstance(part, Item) else None
                if isinstance(part, Item) and isinstance(key, Element) and resolved(key.iterable) is counter:
                    return self.table(row_words.without_locator(part.base), depth)
        return None

    def _in_place(self, value: Value, table: Table) -> Table | None:
        """What calls that change an object in place did to it afterwards."""
        for event in row_words.changed_in_place(self.program).get(id(value), ()):
            call = event.call
            if call.method == "reset_index":
                table = table.anew(event.node)
                continue
            if call.method not in names.SOME_ROWS | names.SORTS and call.method != "drop":
                return None
            changed = self._changed(call, call.method, table)
            if changed is None:
                return None
            table = changed
        return table
