"""Changes of tables that change nothing."""

from __future__ import annotations

import ast

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Item, constant, resolved
from netmend.program.meaning.tables import source_of, steps
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = "import numpy as np\nimport pandas as pd\nimport torch\n\ndf = pd.read_csv('survey.csv')\n"
USED = "x = torch.tensor(df.to_numpy())\n"
# Methods of tables that return a new one. Those that people call to look at the result are left out.
_CLEANING = frozenset(("fillna", "dropna", "replace", "drop_duplicates", "ffill", "bfill", "interpolate", "clip", "mask", "where",
                       "fill_null", "drop_nulls", "fill_nan", "filter"))  # fmt: skip
_OTHERS = frozenset(("drop", "unique", "rename", "astype", "sort_values", "sort_index", "reset_index", "set_index", "with_columns", "cast", "sort"))  # fmt: skip


class TableUnchanged(StaticRule, code="S927", cause="PRE-MISS-CLEAN"):
    """A table is cleaned or changed, and the result is thrown away: `df.replace(-999, np.nan)` stands alone.

    Methods of tables return a new one. The line does nothing: the missing values stay, -999 goes into the network as a number, rows that should
    be gone are trained on. The same holds for `inplace=True` on a part that was picked with a list of columns, which is a copy.

    Assign the result: `df = df.replace(-999, np.nan)`.
    """

    message = "The result of {0}() is thrown away and the table stays as it is; write {1}."
    triggers = tuple(f".{name}(" for name in sorted(_CLEANING | _OTHERS))
    patterns = (
        r"^[ \t]*[A-Za-z_][\w.]*(?:\[[^\n=]*\])?\.(?:fillna|dropna|replace|drop_duplicates|ffill|bfill|interpolate|clip|mask|where|fill_null|drop_nulls"
        r"|fill_nan|unique|filter|drop|rename|astype|sort_values|sort_index|reset_index|set_index|with_columns|cast|sort)\(",
    )

    GOOD = (
        Snippet("assigned", HEAD + "df = df.replace(-999, np.nan)\n" + USED),
        Snippet("in place", HEAD + "df.dropna(inplace=True)\n" + USED),
        Snippet("a list is sorted", "import pandas as pd\nnames = list(pd.read_csv('a.csv').columns)\nnames.sort()\n"),
        Snippet("of something unknown", "import pandas as pd\n\ndef clean(thing):\n    thing.replace('a', 'b')\n    return thing\n"),
        Snippet("shown", HEAD + "df.sort_values('age')\n" + USED),
        Snippet("values that are shown", HEAD + "df['age'].unique()\n" + USED),
        Snippet("shown and not used", HEAD + "df.fillna(0)\n"),
        Snippet("must not fail", HEAD + "try:\n    df.astype(float)\nexcept ValueError:\n    raise SystemExit('not a number')\n" + USED),
        Snippet("one column in place", HEAD + "df['age'].fillna(40, inplace=True)\n" + USED),
    )  # fmt: skip
    BAD = (
        mended("a number for missing", HEAD + "⟨df → df = df⟩.replace(-999, np.nan)\n" + USED),
        mended("rows", HEAD + "df = df[df['age'] > 0]\n⟨df → df = df⟩.dropna(subset=['income'])\n" + USED),
        mended("a column", HEAD + "⟨df['age'] → df['age'] = df['age']⟩.fillna(df['age'].median())\n" + USED),
        Snippet("a copy in place", HEAD + "df[['age', 'income']].fillna(0, inplace=True)\n" + USED, line=6),
        mended("polars", "import polars as pl\nimport torch\n\ndef load(path):\n    df = pl.read_csv(path)\n    ⟨df → df = df⟩.with_columns(pl.col('x').fill_null(0))\n    return df.to_torch()\n\nx = load('a.csv')\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.methods_of(*sorted(_CLEANING | _OTHERS)):
            call, node = event.call, event.node
            statement = program.parent(node)
            if (
                not isinstance(node, ast.Call)
                or not isinstance(node.func, ast.Attribute)
                or not isinstance(statement, ast.Expr)
            ):
                continue
            if program.function(node) is None and (call.method in _OTHERS or program.file.endswith(".ipynb")):
                continue  # at the end of a cell, the result is shown
            if source_of(call.receiver) is None or _is_tried(program, node) or not _is_used(program, node):
                continue
            if any(
                isinstance(part, Call) and part.method in ("groupby", "rolling", "str", "dt")
                for part in steps(call.receiver)
            ):
                continue
            holder = node.func.value
            if constant(call.keywords.get("inplace")):
                if _is_copy(call):
                    yield self.finding(
                        program,
                        node,
                        f"inplace=True changes a copy here, as a list of columns was picked; write {program.source(holder)} = … .{call.method}(…).",
                    )
                continue
            if (
                not isinstance(holder, ast.Name | ast.Subscript | ast.Attribute)
                or "inplace" in call.keywords
                or call.open
            ):
                continue
            cause = self.cause if call.method in _CLEANING else "PRE-WRONG-STEP"
            name = program.source(holder)
            better = f"{name} = {name}.{call.method}(…)"
            edits = replace(program, holder, f"{name} = {name}")
            yield self.finding(
                program,
                node,
                self.message.format(call.method, better),
                cause=cause,
                fix=Fix("Assign the result", edits),
            )


def _is_copy(call: Call) -> bool:
    """`df[["a", "b"]]`: a list of columns, or rows by a condition."""
    held = resolved(call.receiver)
    key = resolved(held.key) if isinstance(held, Item) else None
    return isinstance(key, Collection) and key.kind == "list"


def _is_used(program: Program, node: ast.Call) -> bool:
    """Is the table looked at again behind the line? At the end of a cell or script, its result is shown or nothing."""
    func = node.func
    holder: ast.AST = func.value if isinstance(func, ast.Attribute) else func
    while isinstance(holder, ast.Subscript | ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name):
        return False
    scope = program.function(node) or program.tree
    last = node.end_lineno or node.lineno
    return any(
        isinstance(part, ast.Name)
        and part.id == holder.id
        and part.lineno > last
        and isinstance(part.ctx, ast.Load)
        for part in ast.walk(scope)
    )


def _is_tried(program: Program, node: ast.AST) -> bool:
    for above in program.above(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        if isinstance(above, ast.Try | ast.With):
            return True
    return False
