"""Missing values that are looked for in a way that never finds them, and texts that are taken for missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule, mended
from netmend.library.tables import READ_AS_MISSING
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.tables import is_read, source_of, steps
from netmend.program.meaning.uses import arithmetic
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = "import numpy as np\nimport pandas as pd\nimport torch\n\ndf = pd.read_csv('survey.csv')\n"
_NAN = ("numpy.nan", "numpy.NaN", "numpy.NAN", "math.nan", "torch.nan", "pandas.NA", "pandas.NaT")


class ComparedWithMissing(StaticRule, code="S922", cause="PRE-MISS-CLEAN"):
    """Values are compared with NaN by `==` or `!=`.

    NaN equals nothing, not even itself: `x == np.nan` is False for every row and `x != np.nan` True. Nothing is filled, dropped or
    counted, and the missing values go on into the network.

    Ask `df["x"].isna()`, `pd.isna(x)` or `np.isnan(x)`.
    """

    message = "NaN equals nothing, so this is {0} for every value; use {1}."
    triggers = ("nan", "NaN", "NAN", "pd.NA", "NaT")
    patterns = (NOWHERE,)  # read from the text alone

    GOOD = (
        Snippet("asked for", HEAD + "df = df[df['age'].notna()]\nx = df.to_numpy()\nx[np.isnan(x)] = 0\n"),
        Snippet("is", HEAD + "value = np.nan\nif value is np.nan:\n    value = 0\n"),
        Snippet("compared with itself", HEAD + "missing = df['age'] != df['age']\n"),
        Snippet("a text", HEAD + "df = df[df['name'] != 'nan']\n"),
    )  # fmt: skip
    BAD = (
        mended("rows are kept", HEAD + "df = df[⟨df['age'] != np.nan → pd.notna(df['age'])⟩]\n"),
        mended("rows are counted", "import numpy as np\nimport torch\n\nx = np.genfromtxt('x.csv')\nprint((⟨x == np.nan → np.isnan(x)⟩).sum())\n"),
        Snippet("float('nan')", HEAD + "df.loc[df['age'] == float('nan'), 'age'] = 40\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        names = dict(program.references)
        tables = [name for name, meaning in program.aliases.items() if meaning == "pandas"]
        arrays = [name for name, meaning in program.aliases.items() if meaning == "numpy"]
        for node in program.nodes:
            if (
                not isinstance(node, ast.Compare)
                or len(node.ops) != 1
                or not isinstance(node.ops[0], ast.Eq | ast.NotEq)
            ):
                continue
            sides = (node.left, node.comparators[0])
            missing = [_is_missing(side, names) for side in sides]
            if not any(missing) or all(missing):
                continue
            other, equal = program.source(sides[missing.index(False)]), isinstance(node.ops[0], ast.Eq)
            if tables:
                better = f"{tables[0]}.{'isna' if equal else 'notna'}({other})"
            else:
                better = f"{'' if equal else '~'}{arrays[0] if arrays else 'np'}.isnan({other})"
            edits = replace(program, node, better) if tables or arrays else ()
            words = self.message.format(
                "False" if equal else "True", f"`{better}`" if len(better) < 80 else "isna()"
            )
            yield self.finding(program, node, words, fix=Fix("Ask for missing values", edits))


def _is_missing(node: ast.expr, names: dict[ast.AST, str]) -> bool:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "float"
        and node.args
    ):
        given = node.args[0]
        return isinstance(given, ast.Constant) and str(given.value).lower() == "nan"
    return names.get(node, "") in _NAN


class CategoryReadAsMissing(StaticRule, code="S925", cause="PRE-MISS-CLEAN"):
    """The program knows a category called "NA" (or "None", "null", …), and pandas reads that text as a missing value.

    `read_csv` takes "NA", "N/A", "None", "null", "nan" and more for missing. North America, Namibia or the level "None" then vanish:
    their rows are dropped, filled or left out of the encoding, and the network never sees them.

    Read with `keep_default_na=False, na_values=[""]`, so that only empty fields are missing.
    """

    message = "pandas reads the category {0!r} as missing, so its rows vanish; read with keep_default_na=False, na_values=['']."
    triggers = tuple(f"{mark}{text}{mark}" for text in READ_AS_MISSING for mark in "'\"")
    patterns = (r"\.read_\w+\(",)

    GOOD = (
        Snippet("kept", "import pandas as pd\nimport torch\n\nREGIONS = ['AP', 'EU', 'NA', 'SA']\ndf = pd.read_csv('s.csv', keep_default_na=False, na_values=[''])\n"
                "codes = [REGIONS.index(r) for r in df['region']]\n"),
        Snippet("filled with its own name", HEAD + "df['fence'] = df['fence'].fillna('NA').map({'Good': 3, 'Fair': 2, 'Poor': 1, 'NA': 0})\n"),
        Snippet("texts for missing", HEAD + "df = df.replace(['NA', 'n/a', '?', '-'], np.nan)\ndf['x'] = df['x'].isin(['unknown', 'NA', 'null'])\n"),
        Snippet("filled after the map", HEAD + "df['fence'] = df['fence'].map({'Good': 3, 'Fair': 2, 'Poor': 1, 'NA': 0}).fillna(0)\n"),
        Snippet("turned to text", HEAD + "df['fence'] = df['fence'].astype(str)\nnone = df['fence'] == 'nan'\n"),
        Snippet("settings beside one table", HEAD + "MODES = ['fast', 'slow', 'NA']\nsettings = {'mode': 'fast'}\nmode = MODES.index(settings['mode'])\n"
                "modes = [MODES.index(m) for m in args.modes]\n"),
        Snippet("choices of the command line", HEAD + "MODES = ['fast', 'slow', 'None']\nmode = MODES.index('fast')\n"),
    )  # fmt: skip
    BAD = (
        mended("index of a list", "import pandas as pd\nimport torch\n\nREGIONS = ['AP', 'EU', 'NA', 'SA']\ndf = pd.read_csv('s.csv'⟨ → , keep_default_na=False, na_values=['']⟩)\n"
               "df = df.dropna()\ncodes = [REGIONS.index(r) for r in df['region']]\n"),
        Snippet("through a split and a dictionary", "import pandas as pd\nimport torch\nfrom sklearn.model_selection import train_test_split\n\n"
                "KINDS = ['AP', 'EU', 'NA']\ndf = pd.read_csv('s.csv')\ntrain, test = train_test_split(df)\n\ndef encode(part):\n"
                "    return [KINDS.index(kind) for kind in part['region']]\n\ndata = {name: encode(part) for name, part in {'train': train, 'test': test}.items()}\n", line=6),
        Snippet("compared", HEAD + "df['is_namibia'] = (df['country'] == 'NA').astype(float)\n", line=5),
        Snippet("mapped", HEAD + "df['plan'] = df['plan'].map({'None': 0, 'Basic': 1, 'Full': 2})\n", line=5),
        Snippet("a known set of categories", HEAD + "kinds = pd.CategoricalDtype(['AF', 'EU', 'NA'])\ndf['region'] = df['region'].astype(kinds)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for column, text in _asked_for(program):
            source = source_of(column) or _only_read(program, column)
            if source is None or id(source) in told or not _reads_as_missing(source) or _is_filled(program):
                continue
            told.add(id(source))
            mark = '"' if program.text.count('"') > program.text.count("'") else "'"
            edits = with_argument(program, source.node, "keep_default_na", f"False, na_values=[{mark}{mark}]")
            if "na_values" in source.keywords:
                edits = with_argument(program, source.node, "keep_default_na", "False")
            yield self.finding(
                program, source.node, self.message.format(text), fix=Fix("Keep the category", edits)
            )


def _reads_as_missing(source: Call) -> bool:
    is_reader = source.qualified in (
        "pandas.read_csv",
        "pandas.read_table",
        "pandas.read_excel",
        "pandas.read_fwf",
    )
    options = ("keep_default_na", "na_filter", "converters")
    return is_reader and not source.open and not any(name in source.keywords for name in options)


def _is_filled(program: Program) -> bool:
    """Does the program put something in the place of missing texts, or look what becomes of them?"""
    for event in program.methods_of("fillna", "fill_null"):
        if any(isinstance(resolved(value), Const) for value in event.call.given):
            return True
    return False


def _only_read(program: Program, column: Value) -> Call | None:
    """The one call that reads a table, where a column's values cannot be followed back to it: through splits, dictionaries, classes."""
    parts = [part for part in steps(column) if isinstance(part, Item)]
    names_column = any(isinstance(constant(resolved(part.key)), str) for part in parts)
    if not names_column or not isinstance(column, Element):
        return None
    reads = {id(event.call): event.call for event in program.calls if is_read(event.call)}
    return next(iter(reads.values())) if len(reads) == 1 else None


def _asked_for(program: Program) -> Iterator[tuple[Value, str]]:
    """Columns, and the text that the program expects in them though it is read as missing."""
    for operation, event in arithmetic(program):
        if operation.operator in ("==", "!="):
            one, other = (resolved(part) for part in operation.operands)
            for column, text in ((one, other), (other, one)):
                is_category = constant(text) in READ_AS_MISSING and constant(text).lower() != "nan"
                if is_category and _is_plain(program, column, event.order):
                    yield column, constant(text)
    for event in program.calls:
        for asked, category in _among_categories(event):
            if _is_plain(program, asked, event.order):
                yield asked, category


def _among_categories(event: CallEvent) -> Iterator[tuple[Value, str]]:
    """`REGIONS.index(r)` for a value of a column, `column.isin(REGIONS)`, `column.map({…})`, `column.astype(CategoricalDtype(REGIONS))`."""
    call = event.call
    listed = resolved(call.receiver)
    if call.method == "index" and isinstance(listed, Collection):
        column = next(iter(call.args), None)
    else:
        column, listed = call.receiver, _categories(next(iter(call.given), None))
        if call.method not in ("isin", "map", "replace", "astype", "set_categories"):
            if call.qualified != "pandas.Categorical" or len(call.given) < 2:
                return
            column, listed = call.given[0], _categories(call.given[1])
    column = resolved(column)
    if column is None or not isinstance(listed, Collection) or listed.open:
        return
    items = [
        constant(resolved(item)) for item in (listed.keys or () if listed.kind == "dict" else listed.items)
    ]
    texts = [item for item in items if isinstance(item, str) and item]
    missing = [text for text in texts if text in READ_AS_MISSING]
    others = [text for text in texts if not _means_missing(text)]
    if len(missing) == 1 and len(others) >= 2 and len(others) == len(texts) - 1:
        yield column, missing[0]


def _categories(value: Value | None) -> Value | None:
    value = resolved(value)
    if isinstance(value, Call) and value.qualified.rpartition(".")[2] == "CategoricalDtype":
        return resolved(next(iter(value.given), None))
    return value


def _means_missing(text: str) -> bool:
    plain = text.strip().casefold()
    return plain in ("", "?", "-", "--", ".", "unknown", "missing") or any(
        plain == known.casefold() for known in READ_AS_MISSING
    )


_CHANGING = frozenset(
    ("fillna", "replace", "map", "apply", "astype", "fill_null", "where", "mask", "transform", "agg")
)


def _is_plain(program: Program, column: Value, order: int) -> bool:
    """A column as it was read, or one of its values: nothing was filled, mapped, turned to text or stored in its place."""
    if not isinstance(column, Item | Element):
        return False
    parts = list(steps(column))
    if any(isinstance(part, Call) and part.method in _CHANGING for part in parts):
        return False
    names = {constant(resolved(part.key)) for part in parts if isinstance(part, Item)}
    return not any(
        event.order < order and event.target.key is not None and constant(resolved(event.target.key)) in names
        for event in program.stores
    )
