"""Rows that no longer belong together: laid side by side by labels that mean other rows, or by place in two orders."""

from __future__ import annotations

import ast
import re

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.meaning.row_orders import ANY, DRAWN, MIXED, SOME, SORTED, Step
from netmend.program.meaning.row_pairs import (
    Meeting,
    apart,
    by_label,
    by_place,
    cut_to_fit,
    sort_of,
    strangers,
    ways,
)
from netmend.program.text.edits import replace
from netmend.program.text.queries import last_name
from netmend.vocabulary.finding import Fix

HEAD = "import numpy as np\nimport pandas as pd\nimport torch\nfrom sklearn.preprocessing import StandardScaler\n\n"
ADS = HEAD + 'ads = pd.read_csv("ads.csv")\nads = ads[ads["price"] > 200]\nscaler = StandardScaler()\n'


class LabelsOfOtherRows(StaticRule, code="S910", cause="PRE-WRONG-STEP"):
    """Two tables are put together by their labels, and the labels of one were given after rows had been dropped or reordered.

    pandas assigns, joins and concatenates columns by label, not by place. After `reset_index(drop=True)`, or in a new `DataFrame` made of an
    array, label 7 is the eighth row that is left; in the table it came from, label 7 still is the eighth row of the file. Each row then
    gets the values of another one, or NaN, and nothing complains.

    Keep one set of labels until everything is put together: give the new table the old index (`pd.DataFrame(values, index=df.index)`), or
    take the column from the table that was filtered.
    """

    message = "pandas puts these together by label, and the labels mean different rows."
    triggers = ("reset_index(", "DataFrame(", "ignore_index", "Series(")

    GOOD = (
        Snippet("reset on both sides", ADS + 'ads = ads.reset_index(drop=True)\nnum = pd.DataFrame(scaler.fit_transform(ads[["age"]]))\nx = pd.concat([num, ads[["gear"]]], axis=1)\n'),
        Snippet("nothing was dropped", HEAD + 'ads = pd.read_csv("ads.csv")\nnum = pd.DataFrame(StandardScaler().fit_transform(ads[["age"]]))\nx = pd.concat([num, ads["gear"]], axis=1)\n'),
        Snippet("the old labels are handed on", ADS + 'num = pd.DataFrame(scaler.fit_transform(ads[["age"]]), index=ads.index)\nx = pd.concat([num, ads["gear"]], axis=1)\n'),
        Snippet("by place", ADS + 'clean = ads.reset_index(drop=True)\nclean["price"] = ads["price"].to_numpy()\n'),
        Snippet("filtered, not numbered anew", ADS + 'ads["whole"] = pd.read_csv("ads.csv")["price"]\nx = ads.copy()\nx["price"] = ads["price"]\n'),
        Snippet("mixed on purpose", HEAD + 'df = pd.read_csv("a.csv")\ndf["null"] = df["price"].sample(frac=1).reset_index(drop=True)\n'),
    )  # fmt: skip
    BAD = (
        mended("a new table without labels", ADS + 'num = pd.DataFrame(scaler.fit_transform(ads[["age", "hp"]])⟨ → , index=ads.index⟩)\nx = pd.concat([num, ads[["gear"]]], axis=1)\n'),
        Snippet("the target of the unfiltered table", HEAD + 'df = pd.read_csv("flats.csv")\nx = df.drop(columns=["price"])\nx = x[x["area"] < 500].reset_index(drop=True)\n'
                'x["log_price"] = np.log(df["price"])\n', line=9),
        Snippet("parts of a split", HEAD + "from sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import OneHotEncoder\n"
                'df = pd.read_csv("a.csv")\ntrain, test = train_test_split(df)\nenc = OneHotEncoder(sparse_output=False).fit(train[["fuel"]])\n'
                'hot = pd.DataFrame(enc.transform(train[["fuel"]]))\nx = train.join(hot)\n', line=11),
        Snippet("sorted with new labels", HEAD + 'df = pd.read_csv("a.csv")\nlate = df.sort_values("day", ignore_index=True)\nlate["target"] = df["price"]\n', line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for meeting in by_label(program):
            one, other = meeting.one.labels, meeting.other.labels
            if one is None or other is None or one.source is not other.source or one.steps == other.steps:
                continue
            late, early = (one, other) if len(one.steps) > len(other.steps) else (other, one)
            steps = [step for step in late.steps if step not in early.steps]
            if not steps or _is_mixed_on_purpose(meeting) or any(_is_slice(step) for step in steps):
                continue
            numbered = meeting.one.numbered if late is one else meeting.other.numbered
            where = numbered if _is_made_of_array(numbered) else meeting.node
            yield self.finding(
                program,
                where,
                _said(steps),
                fix=_with_index(program, numbered),
                see=_see(numbered, meeting.node, where),
            )


def _see(numbered: ast.AST | None, meets: ast.AST, where: ast.AST | None) -> list[tuple[str, ast.AST]]:
    if numbered is None:
        return []
    return (
        [("The two meet here.", meets)]
        if where is numbered
        else [("These labels were given here.", numbered)]
    )


def _said(steps: list[Step]) -> str:
    done = (
        "rows were dropped"
        if any(step.kind == SOME for step in steps)
        else "the rows were put into another order"
    )
    if all(step.kind == MIXED for step in steps):
        done = "the rows were drawn"
    return (
        f"pandas goes by labels here, and one side was numbered from 0 after {done}, so rows meet values of other rows; "
        "keep one index for both (`index=df.index`), or take both from the same table."
    )


def _is_mixed_on_purpose(meeting: Meeting) -> bool:
    """One column alone was drawn anew, as for a control without meaning."""
    labels = meeting.other.labels
    return meeting.other.is_column and labels is not None and any(step.kind == MIXED for step in labels.steps)


def _is_slice(step: Step) -> bool:
    """Rows by their place: a column that is moved against its table."""
    return isinstance(step.key, tuple) and step.key[0] == "slice"


def _is_made_of_array(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in ("DataFrame", "Series")


def _with_index(program: Program, numbered: ast.AST | None) -> Fix | None:
    """`index=ads.index` for `pd.DataFrame(scaler.transform(ads[columns]))`."""
    if not isinstance(numbered, ast.Call) or not _is_made_of_array(numbered) or not numbered.args:
        return None
    given = numbered.args[0]
    if not isinstance(given, ast.Call) or not given.args or not isinstance(given.func, ast.Attribute):
        return None
    source: ast.expr = given.args[0]
    while isinstance(source, ast.Subscript):
        source = source.value
    if not isinstance(source, ast.Name):
        return None
    last: ast.expr = numbered.keywords[-1].value if numbered.keywords else numbered.args[-1]
    text = f"{program.source(last)}, index={source.id}.index"
    return Fix("Give the new table the old index", replace(program, last, text))


def _by_number(program: Program, names: ast.AST | None) -> Fix | None:
    """`sorted(files, key=…)` so that file_2 stands before file_10: shorter names first."""
    if not isinstance(names, ast.Call) or len(names.args) != 1 or names.keywords:
        return None
    text = f"{program.source(names.args[0])}, key=lambda name: (len(str(name)), name)"
    return Fix("Sort the files by their number", replace(program, names.args[0], text))


PAIR = "data = torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y))\n"
POLARS = "import polars as pl\nimport torch\n\nsessions, users = pl.read_csv('s.csv'), pl.read_csv('u.csv')\n"
_TIME = re.compile(
    r"(^|_)(time|date|day|hour|at|on|ts|timestamp|datetime|created|started|ended|start|end|year|month|week)(_|$| )",
    re.IGNORECASE,
)


class OrdersDiffer(StaticRule, code="S911", cause="DAT-LABEL"):
    """Rows are matched by their place, and the two sides are in different orders.

    Inputs and targets (or image and label) belong together only as long as both are in one order. A `group_by` of polars, `os.listdir` and
    `glob` promise no order; two queries with different `ORDER BY`, a sort or a shuffle of one side only have the same effect: every row
    gets the target of another one, and the network learns nothing.

    Join by the key, or bring both sides into one order before they are laid side by side.
    """

    message = "Rows are matched by their place here, and the two sides are in different orders."
    triggers = (
        "group_by(",
        "ORDER BY",
        "order by",
        "listdir(",
        "glob(",
        "iterdir(",
        "sort_values(",
        "sample(",
        ".sort(",
        "shuffle(",
        "argsort(",
        "permutation(",
        "randperm(",
        ":len(",
        ": len(",
    )

    GOOD = (
        Snippet("the same rows of both", HEAD + "d = np.load('d.npz')\nx, y = d['x'], d['y']\nok = x[:, 0] > 0\nx, y = x[ok], y[ok]\nx, y = x[:1000], y[:1000]\n" + PAIR),
        Snippet("put back into the order of the targets", HEAD + "x, y, ids = np.load('x.npy'), np.load('y.npy'), np.load('ids.npy')\nx = x[np.argsort(ids)]\n" + PAIR),
        Snippet("negative pairs", HEAD + "x, y = np.load('x.npy'), np.load('y.npy')\nnet = torch.nn.Linear(4, 4)\na = torch.tensor(x)\nb = a[torch.randperm(len(a))]\n"
                "loss = torch.nn.functional.mse_loss(net(a), b)\n"),
        Snippet("joined by the key", POLARS + 'both = users.join(sessions.group_by("user").agg(n=pl.len()), on="user")\nx, y = both["n"].to_numpy(), both["churned"].to_numpy()\n' + PAIR),
        Snippet("sorted alike", POLARS + 'x = sessions.group_by("user").agg(n=pl.len()).sort("user")["n"].to_numpy()\ny = users.sort("user")["churned"].to_numpy()\n' + PAIR),
        Snippet("both from one table", POLARS + 'rows = sessions.group_by("user").agg(n=pl.len(), y=pl.col("left").max())\nx, y = rows["n"].to_numpy(), rows["y"].to_numpy()\n' + PAIR),
        Snippet("one seed for two draws", HEAD + 'df = pd.read_csv("a.csv")\nx = df[["a"]].sample(frac=1, random_state=1).to_numpy()\ny = df["y"].sample(frac=1, random_state=1).to_numpy()\n' + PAIR),
        Snippet("labels looked up by name", HEAD + "import os\nlabels = pd.read_csv('y.csv').set_index('name')['y']\nfiles = os.listdir('img')\nx = np.stack([np.load(f) for f in files])\n"
                "y = np.array([labels[f] for f in files])\n" + PAIR),
        Snippet("one label for all files of a folder", HEAD + "import os\nrows = []\nfor label, name in enumerate(os.listdir('img')):\n    files = os.listdir(os.path.join('img', name))\n"
                "    rows += list(zip(files, [label] * len(files)))\n"),
        Snippet("keys of two names", HEAD + "import sqlite3\ncon = sqlite3.connect('a.db')\nx = np.array(con.execute('SELECT a FROM customer ORDER BY id').fetchall())\n"
                "y = np.array(con.execute('SELECT y FROM churn ORDER BY customer_id').fetchall())\n" + PAIR),
    )  # fmt: skip
    BAD = (
        Snippet("rows taken out of one side, the other cut to its length", HEAD + "d = np.load('d.npz')\nx, y = d['x'], d['y']\nx = x[x[:, 0] > 0]\ny = y[:len(x)]\n" + PAIR, line=9),
        Snippet("one side put in order", HEAD + "d = np.load('d.npz')\nx, y = d['x'], d['y']\norder = np.argsort(x[:, 0])\nx = x[order]\n" + PAIR, line=9),
        Snippet("one side mixed at random", HEAD + "x, y = np.load('x.npy'), np.load('y.npy')\nx = x[np.random.permutation(len(x))]\n" + PAIR, line=7),
        Snippet("groups come in any order", POLARS + 'feats = sessions.group_by("user").agg(n=pl.len())\ny = users.sort("user")["churned"].to_numpy()\nx = feats.drop("user").to_numpy()\n' + PAIR, line=5),
        Snippet("two queries", HEAD + "import sqlite3\ncon = sqlite3.connect('a.db')\nx = np.array(con.execute('SELECT a FROM batch ORDER BY started_at').fetchall())\n"
                "y = np.array([g for (g,) in con.execute('SELECT grade FROM quality ORDER BY batch_id')])\n" + PAIR, line=9),
        Snippet("files as they come", HEAD + "import glob\nfrom sklearn.model_selection import train_test_split\ntable = pd.read_csv('y.csv')\nfiles = glob.glob('img/*.npy')\n"
                "x = np.stack([np.load(f) for f in files])\na, b, c, d = train_test_split(x, table['y'].to_numpy())\n", line=9),
        Snippet("one side sorted", HEAD + 'df = pd.read_csv("a.csv")\nx = df.sort_values("day")[["a", "b"]].to_numpy()\ny = df["y"].to_numpy()\n' + PAIR, line=7),
        Snippet("one side mixed", HEAD + 'df = pd.read_csv("a.csv")\nx = df.drop(columns="y").sample(frac=1)\ny = df["y"]\nx, y = x.to_numpy(), y.to_numpy()\n' + PAIR, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for meeting in by_place(program):
            orders = apart(meeting)
            step = _culprit(meeting, *orders) if orders is not None else cut_to_fit(meeting)
            if step is not None and step.node is not None:
                yield self.finding(
                    program,
                    step.node,
                    _words(step),
                    see=[("The rows are matched by their place here.", meeting.node)],
                )


def _words(step: Step) -> str:
    if step.kind == SOME:
        return "Rows were taken out of the other side by what they hold, and this side is only cut to the same length, so the rows no longer belong together; take the same rows of both."
    if step.kind == ANY:
        made = step.node.func if isinstance(step.node, ast.Call) else None
        name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "this")
        remedy = (
            "sort by the key on both sides, or join by it"
            if name == "group_by"
            else "look each row up by its name, or sort both by it"
        )
        return f"{name}() gives no order, and its rows are matched by place with rows of another source; {remedy}."
    done = "sorted" if step.kind == SORTED else "shuffled"
    return f"These rows are {done} apart from those they are matched with by place, so each gets another row's values; join by the key, or use one order for both."


def _culprit(meeting: Meeting, left: tuple[Step, ...], right: tuple[Step, ...]) -> Step | None:
    """The step that sets two orders apart, where the text proves it."""
    if meeting.one.rows.source is meeting.other.rows.source:
        steps = [step for step in (*left, *right) if step not in left or step not in right]
        told = [step for step in steps if step.kind == SORTED or _is_call(step)]
        return told[0] if told and len(told) == len(steps) else None
    last = [steps[-1] if steps else None for steps in (left, right)]
    drawn = [step for step in (*left, *right) if step.kind == MIXED]
    if (
        len(drawn) == 1
        and _is_random(drawn[0])
        and not meeting.of_loss
        and any(step is drawn[0] for step in last)
    ):
        return drawn[0]
    if any(step is not None and step.kind == MIXED for step in last):
        return None
    unordered = next((step for step in last if step is not None and step.kind == ANY), None)
    if unordered is not None:
        return unordered
    one, other = last
    if one is None or other is None or one.key == other.key:
        return None
    keys = [str(step.key) for step in (one, other)]
    is_other_kind = bool(_TIME.search(keys[0])) != bool(_TIME.search(keys[1])) and "text" not in keys
    return other if is_other_kind else None


def _is_random(step: Step) -> bool:
    """Rows in an order drawn at random, of an array or of a whole table."""
    return _is_call(step) or (isinstance(step.key, tuple) and step.key[0] == DRAWN)


def _is_call(step: Step) -> bool:
    """A shuffle of a whole table, not rows that are picked out of an array."""
    return step.kind == MIXED and isinstance(step.node, ast.Call)


FILES = HEAD + "from pathlib import Path\ntable = pd.read_csv('moisture.csv')\n"


class StrangersByPlace(StaticRule, code="S914", cause="DAT-LABEL", preview=True):
    """Rows of two sources are matched by their place: files in the order of their names with a table, or two tables.

    Names are sorted letter by letter: sample_10 stands before sample_2, while the table counts 1, 2, 3. Two files of rows have one order only as long as
    nobody sorts one of them. If the orders differ, every row gets the target of another one. The source does not show it; `netmend run` compares the
    names of the files with the columns of the table and tells this only where they differ.

    Look each target up by the name of its file, or join by the key.
    """

    message = "Rows of two sources are matched by their place; look each up by its name, or join by the key."
    triggers = ("sorted(", "read_csv(", "DictReader(", "csv.reader(", "loadtxt(", "groupby(")

    GOOD = (
        Snippet("both sorted by the key", FILES + "other = pd.read_csv('b.csv').sort_values('id')\nx, y = other[['a']].to_numpy(), table.sort_values('id')['moisture'].to_numpy()\n" + PAIR),
        Snippet("looked up by name", FILES + "moisture = table.set_index('sample')['moisture']\nfiles = sorted(Path('s').glob('*.txt'))\nx = np.stack([np.load(f) for f in files])\n"
                "y = np.array([moisture[f.stem] for f in files])\n" + PAIR),
        Snippet("one table", FILES + "x, y = table[['a']].to_numpy(), table['moisture'].to_numpy()\n" + PAIR),
        Snippet("joined", FILES + "both = table.merge(pd.read_csv('b.csv'), on='sample')\nx, y = both[['a']].to_numpy(), both['moisture'].to_numpy()\n" + PAIR),
    )  # fmt: skip
    BAD = (
        Snippet("names in the order of their letters", FILES + "files = sorted(Path('s').glob('*.txt'))\nx = np.stack([np.load(f) for f in files])\ny = table['moisture'].to_numpy()\n" + PAIR, line=8),
        Snippet("two tables side by side", FILES + "other = pd.read_csv('spectra.csv')\nall_rows = pd.concat([other, table], axis=1)\n", line=9),
        Snippet("targets of a second table", FILES + "x = pd.read_csv('spectra.csv').to_numpy()\nx, y = x[:, 1:], table['moisture'].to_numpy()\n" + PAIR, line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for meeting in strangers(program):
            if ways(meeting) == ("sorted", "sorted"):
                continue
            names = sort_of(meeting)
            yield self.finding(
                program,
                names or meeting.node,
                fix=_by_number(program, names),
                see=[("The rows are matched by their place here.", meeting.node)],
            )
