"""Joins that take values from the future, and joins that lose the rows they were meant to keep."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Item, Value, constant, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import walk
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = (
    "import pandas as pd\nimport torch\n\nchecks, lab = pd.read_csv('checks.csv'), pd.read_csv('lab.csv')\n"
)
TRAIN = "net = torch.nn.Linear(2, 1)\nx, y = torch.tensor(df[['pulse', 'value']].to_numpy()), torch.tensor(df['worse'].to_numpy())\nloss = torch.nn.functional.binary_cross_entropy_with_logits(net(x), y)\n"


class AsOfFromTheFuture(StaticRule, code="S912", cause="PRE-WRONG-STEP"):
    """An as-of join takes the nearest or the next value in time for an input: one that is not known yet.

    `direction="nearest"` takes the closest measurement, before or after. What was measured afterwards often holds the outcome, so the score is
    too good, and at prediction time there is no such value.

    Write `direction="backward"` (polars: `strategy="backward"`). Joining the target from the future is right, and so is `nearest` with a `tolerance`
    that only allows for two clocks.
    """

    message = "This as-of join also takes values from after the row's own time, which are not known when the model is used; join backward."
    triggers = ("merge_asof(", "join_asof(")

    GOOD = (
        Snippet("backward", HEAD + "df = pd.merge_asof(checks, lab, on='hour', direction='backward')\n" + TRAIN),
        Snippet("two clocks", HEAD + "df = pd.merge_asof(checks, lab, on='hour', direction='nearest', tolerance=0.01)\n" + TRAIN),
        Snippet("the target lies ahead", HEAD + "lab = lab.rename(columns={'found': 'worse'})\ndf = pd.merge_asof(checks, lab, on='hour', direction='nearest')\n" + TRAIN),
        Snippet("the next event", HEAD + "df = pd.merge_asof(checks, lab, on='hour', direction='forward')\n" + TRAIN),
    )  # fmt: skip
    BAD = (
        mended("the nearest value", HEAD + "df = pd.merge_asof(checks, lab, on='hour', by='patient', direction=⟨'nearest' → \"backward\"⟩)\n" + TRAIN),
        mended("the target stands in the left table", HEAD + "print(checks['worse'].mean())\ndf = pd.merge_asof(checks, lab, on='hour', direction=⟨'forward' → \"backward\"⟩)\n" + TRAIN),
        mended("polars", "import polars as pl\nimport torch\n\nchecks, lab = pl.read_csv('checks.csv'), pl.read_csv('lab.csv')\ndf = checks.join_asof(lab, on='hour', strategy=⟨'nearest' → \"backward\"⟩)\n" + TRAIN),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in (*program.calls_of("pandas.merge_asof"), *program.methods_of("join_asof")):
            call = event.call
            option = call.keywords.get("direction" if call.qualified else "strategy")
            way = constant(resolved(option))
            if (
                call.open
                or way not in ("nearest", "forward")
                or "tolerance" in call.keywords
                or len(call.args) < 1 + bool(call.qualified)
            ):
                continue
            left, right = (call.args[0], call.args[1]) if call.qualified else (call.receiver, call.args[0])
            targets = set(_targets(program, event.value))
            if not targets or targets & set(_columns(program, right)):
                continue
            if way == "nearest" or targets <= set(_columns(program, left)):
                text = option.node if option is not None else None
                fix = (
                    Fix("Take the last value before", replace(program, text, '"backward"'))
                    if isinstance(text, ast.Constant)
                    else None
                )
                yield self.finding(program, text if isinstance(text, ast.Constant) else event.node, fix=fix)


def _targets(program: Program, table: Value) -> Iterator[str]:
    """Columns of a table that a loss or a fit has as its target."""
    targets = [use.target for use in losses(program) if use.target is not None]
    targets += [
        resolved(fit.args[1])
        for fit in (event.call for event in program.methods_of("fit"))
        if len(fit.args) == 2
    ]
    for target in targets:
        for part in walk(target):
            name = constant(resolved(part.key)) if isinstance(part, Item) else None
            if (
                isinstance(name, str)
                and isinstance(part, Item)
                and any(known is table for known in walk(part.base))
            ):
                yield name


def _columns(program: Program, table: Value | None) -> Iterator[str]:
    """Columns that a table has for certain: they are used, made, renamed or named on the way to it."""
    sources = list(walk(table))
    ids = {id(part) for part in sources}
    for event in program.stores:
        if (
            event.target.base is not None
            and id(resolved(event.target.base)) in ids
            and isinstance(constant(event.target.key), str)
        ):
            yield constant(event.target.key)
    for used in program.events:
        for part in walk(used.value):
            if (
                isinstance(part, Item)
                and id(resolved(part.base)) in ids
                and isinstance(constant(resolved(part.key)), str)
            ):
                yield constant(resolved(part.key))
    for part in sources:
        if isinstance(part, Call):
            yield from (value.value for value in _words(part) if isinstance(value.value, str))
            yield from part.keywords if part.method in ("agg", "assign") else ()


def _words(call: Call) -> Iterator[Const]:
    for given in call.given:
        yield from (part for part in walk(given) if isinstance(part, Const))


SQL = "import sqlite3\nimport numpy as np\n\ncon = sqlite3.connect('crm.db')\n"
_LEFT = re.compile(
    r"\bleft\s+(?:outer\s+)?join\s+(?P<table>[\w.\"`\[\]]+)(?:\s+(?:as\s+)?(?!on\b|using\b)(?P<alias>\w+))?\s+on\s+(?P<on>.+?)"
    r"(?=\b(?:left|inner|right|full|cross)?\s*(?:outer\s+)?join\b|\bwhere\b|\bgroup\s+by\b|\border\s+by\b|$)",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_WHERE = re.compile(
    r"\bwhere\b(?P<all>.+?)(?=\bgroup\s+by\b|\border\s+by\b|\bhaving\b|\blimit\b|\bunion\b|;|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_KEEPS = re.compile(r"\bis\s+null\b|\bcoalesce\b|\bifnull\b|\bor\b", re.IGNORECASE)


class LeftJoinUndone(StaticRule, code="S913", cause="PRE-WRONG-STEP"):
    """A condition in WHERE on the right table of a LEFT JOIN throws away the rows that the join was to keep.

    Rows of the left table without a partner have NULL in every column of the right one, and NULL fulfils no condition. Customers without an order
    are then missing from training and from the test, and the model is wrong for them. `COALESCE` or a count over the right table shows that they
    were meant to stay.

    Put the condition into the ON clause.
    """

    message = "WHERE throws away the rows without a partner that this LEFT JOIN keeps."
    triggers = ("left join", "LEFT JOIN", "left outer join", "LEFT OUTER JOIN")

    GOOD = (
        Snippet("in the ON clause", SQL + 'rows = con.execute("SELECT c.id, COUNT(t.id) FROM c LEFT JOIN t ON t.c = c.id AND t.year = 2023 GROUP BY c.id").fetchall()\n'),
        Snippet("only those without", SQL + 'rows = con.execute("SELECT c.id, COALESCE(t.n, 0) FROM c LEFT JOIN t ON t.c = c.id WHERE t.id IS NULL").fetchall()\n'),
        Snippet("a condition on the left", SQL + 'rows = con.execute("SELECT c.id, COUNT(t.id) FROM c LEFT JOIN t ON t.c = c.id WHERE c.year = 2023 GROUP BY c.id").fetchall()\n'),
        Snippet("or none", SQL + 'rows = con.execute("SELECT c.id, COALESCE(t.n, 0) FROM c LEFT JOIN t ON t.c = c.id WHERE t.year = 2023 OR t.year IS NULL").fetchall()\n'),
    )  # fmt: skip
    BAD = (
        mended("a count", SQL + 'rows = con.execute("SELECT c.id, COUNT(t.id) FROM c LEFT JOIN t ON t.c = c.id⟨ WHERE t.year = 2023 →  AND t.year = 2023⟩ GROUP BY c.id").fetchall()\n'),
        Snippet("zero where there is none", "import pandas as pd\n\nQUERY = '''\nSELECT u.id, u.age, COALESCE(o.total, 0) AS total\nFROM users AS u\nLEFT OUTER JOIN orders AS o ON o.user = u.id\n"
                "WHERE u.active = 1 AND o.state = 'paid'\n'''\ntable = pd.read_sql(QUERY, con)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        for event in program.calls:
            call = event.call
            is_query = call.method in ("execute", "sql") or call.qualified.startswith(
                ("pandas.read_sql", "polars.read_database", "duckdb.")
            )
            query = resolved(call.args[0]) if is_query and call.args else None
            text, node = constant(query), getattr(query, "node", None)
            if not isinstance(text, str) or not isinstance(node, ast.Constant) or id(node) in seen:
                continue
            seen.add(id(node))
            for join, condition in _undone(text):
                yield self._of(program, node, join, condition)

    def _of(self, program: Program, node: ast.Constant, join: str, condition: str) -> Finding | None:
        written = program.source(node)
        finding = self.finding(
            program, node, f"`WHERE {_one_line(condition)}` throws away the rows without a partner that this LEFT JOIN keeps; put the condition into the ON clause.",
            fix=self._moved(program, node, written, join, condition),
        )  # fmt: skip
        before = written.partition(condition)[0]
        if finding is None or "\n" not in before:
            return finding
        line, column = finding.line + before.count("\n"), len(before.rpartition("\n")[2])
        return dataclasses.replace(
            finding, line=line, column=column, end_line=line, end_column=column + len(condition)
        )

    def _moved(
        self, program: Program, node: ast.Constant, written: str, join: str, condition: str
    ) -> Fix | None:
        """The only condition of WHERE, behind the ON clause."""
        where = re.search(r"\s+where\s+" + re.escape(condition), written, re.IGNORECASE)
        if where is None or written.count(join) != 1 or _AND.match(written[where.end() :].lstrip()):
            return None
        without = written[: where.start()] + written[where.end() :]
        return Fix(
            "Put the condition into the ON clause",
            replace(program, node, without.replace(join, f"{join} AND {condition}")),
        )


def _undone(query: str) -> Iterator[tuple[str, str]]:
    """Left joins with a condition of WHERE that no row without a partner fulfils: the join's text, and the condition."""
    where = _WHERE.search(query)
    head = query[: where.start()] if where is not None else query
    if where is None or _KEEPS.search(where["all"]):
        return
    for join in _LEFT.finditer(query):
        alias = join["alias"] or join["table"].rpartition(".")[2]
        of_right = re.compile(rf"\b{re.escape(alias)}\.\w+")
        expects = re.compile(
            rf"\b(?:coalesce|ifnull|nvl|count|total)\s*\([^()]*(?:\([^()]*\b{alias}\.|\b{alias}\.)|\b{alias}\.\w+\s+is\s+null",
            re.IGNORECASE,
        )
        if not expects.search(head):
            continue
        for condition in _AND.split(where["all"]):
            if of_right.search(condition):
                yield join[0].strip(), condition.strip()
                break


def _one_line(text: str) -> str:
    return " ".join(text.split())
