"""Numbers, columns and scales that are learned from the evaluation data anew, where those of the training data belong."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.check.rules.preprocessing_leaks import refitted
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Element, Item, Param, Value, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.learned import CODES, COLUMNS, DICTIONARY, ENCODERS, STATISTICS, Learned, learned
from netmend.program.meaning.operations import walk
from netmend.program.meaning.parts import parts, written_out
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels, is_for_training
from netmend.program.meaning.wholes import part_names, roots, same_data, same_key
from netmend.program.text.edits import replace
from netmend.program.text.queries import names_in
from netmend.vocabulary.finding import Fix

_MESSAGES = {
    CODES: "`{0}` numbers the values of the evaluation data anew, so the same value has another number than in training; {1}.",
    COLUMNS: "`{0}` makes columns of the evaluation data's own values, so a column may stand for another value than in training; {1}.",
    DICTIONARY: "This {0} is built anew from the evaluation data, so the same number means something else than in training; {1}.",
    STATISTICS: "The evaluation data is scaled or filled by its own statistics (`{0}`), so the same value becomes another input than in training; {1}.",
}
_INSTEAD = {
    "factorize": "keep the names that factorize gave for the training data, and use pd.Index(names).get_indexer(...) here",
    "codes": "use pd.Categorical(..., categories=those of the training data).codes for both",
    "Categorical": "pass categories= of the training data",
    "unique": "use np.searchsorted with the sorted values of the training data",
    "get_dummies": "bring it to the training columns with .reindex(columns=..., fill_value=0)",
    "to_dummies": "select the training columns from it, and fill those that are missing with 0",
    "list": "gather it from the training data once and hand it on",
    "dictionary": "build it from the training data once and hand it on",
    "qcut": "use pd.cut with the bins that qcut(..., retbins=True) gave for the training data",
}
_INSTEAD_OF = {
    STATISTICS: "take the statistics of the training data for both",
    CODES: "fit on the training data once and only transform this",
    COLUMNS: "fit on the training data once and only transform this",
    DICTIONARY: "fit on the training data once and only transform this",
}
_MOST_OTHERS = 4
HEAD = """\
import numpy as np
import pandas as pd
import torch
from sklearn.preprocessing import LabelEncoder, StandardScaler
from torch import nn

old, new = pd.read_csv("2021.csv"), pd.read_csv("2022.csv")
"""
USE = """
x, y = torch.tensor(old["code"].values), torch.tensor(old["y"].values)
net = nn.Embedding(9, 3)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
with torch.no_grad():
    print((net(torch.tensor(new["code"].values)).argmax(1).numpy() == new["y"]).mean())
"""
TEXTS = """\
from collections import Counter
import torch
from torch import nn

class Texts:
    def __init__(self, path, vocab=None):
        rows = [line.split() for line in open(path)]
        if vocab is None:
            counts = Counter(word for row in rows for word in row)
            vocab = {word: place for place, (word, _) in enumerate(counts.most_common(500))}
        self.vocab = vocab
        self.ids = torch.tensor([[self.vocab.get(word, 0) for word in row[1:]] for row in rows])
        self.labels = torch.tensor([int(row[0]) for row in rows])

"""
READING = """\
net = nn.EmbeddingBag(500, 2)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    loss = nn.functional.cross_entropy(net(train.ids), train.labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print((net(test.ids).argmax(1) == test.labels).float().mean())
"""
SCALED = """\
import polars as pl
import torch
from torch import nn

def scaled(df, by=None):
    if by is None:
        return df.with_columns(((pl.col(c) - pl.col(c).mean()) / pl.col(c).std()).alias(c) for c in ["t"])
    return df.with_columns((pl.col("t") - by["t"].mean()) / by["t"].std())

past, spring = pl.read_csv("past.csv"), pl.read_csv("spring.csv")
"""
SCALED_USE = """
net = nn.Linear(1, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    loss = (net(a) - past["load"].to_torch()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print((net(b) - spring["load"].to_torch()).abs().mean())
"""
BOTH_SCALED = "a, b = scaled(past{0}).select('t').to_torch(), scaled(spring{0}).select('t').to_torch()\n"


class LearnedAnewForEvaluation(StaticRule, code="S930", cause="PRE-TRAIN-TEST-SKEW"):
    """Categories, words or columns are numbered, or numbers scaled, by what the evaluation data itself holds, as was done for training.

    A code, a place in a vocabulary or a scaled value then means one thing to the network in training and another in evaluation. The
    result says nothing about the network, and a single new sample could not be prepared like this at all.

    Learn the mapping from the training data once, keep it, and only apply it to everything else.
    """

    message = "This is learned anew from the evaluation data; apply what was learned from the training data."
    triggers = ("backward(", "factorize(", ".codes", "fit_transform(", ".fit(", "get_dummies(", "to_dummies(", "enumerate(", "] = len(", ".std(", "qcut(",
                ".max(", "zscore(", "_scale(", "scale(", "return_inverse", "build_vocab_from_iterator")  # fmt: skip
    patterns = (r"backward\(|factorize\(|\.codes|fit_transform\(|get_dummies\(",)

    GOOD = (
        Snippet("one mapping for both", HEAD + 'old["code"], names = pd.factorize(old["kind"])\nnew["code"] = pd.Index(names).get_indexer(new["kind"])\n' + USE),
        Snippet("only transformed", HEAD + 'le = LabelEncoder()\nold["code"] = le.fit_transform(old["kind"])\nnew["code"] = le.transform(new["kind"])\n' + USE),
        Snippet("categories are written out", HEAD + 'for df in (old, new):\n    df["code"] = pd.Categorical(df["kind"], categories=["a", "b"]).codes\n' + USE),
        Snippet("brought to the training columns", HEAD + 'X_train, X_test = pd.get_dummies(old), pd.get_dummies(new)\n'
                "X_test = X_test.reindex(columns=X_train.columns, fill_value=0)\n"),
        Snippet("the training vocabulary is handed on", TEXTS + 'train = Texts("a.txt")\ntest = Texts("b.txt", train.vocab)\n' + READING),
        Snippet("the vocabulary, or one of its own", TEXTS.replace("        if vocab is None:\n            counts", "        counts")
                .replace("    vocab = {", "vocab = vocab or {") + 'train = Texts("a.txt")\ntest = Texts("b.txt", vocab=train.vocab)\n' + READING),
        Snippet("statistics of the training data", SCALED + BOTH_SCALED.format(", past") + SCALED_USE),
        Snippet("one file, read twice", TEXTS + 'whole = Texts("a.txt")\ntrain, test = torch.utils.data.random_split(whole, [0.8, 0.2])\n'
                'test = torch.utils.data.Subset(Texts("a.txt"), test.indices)\ntrain = whole\n' + READING),
        Snippet("inside the network", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)\n\n    def forward(self, x):\n        h = self.a(x)\n"
                "        return self.b((h - h.mean(0)) / h.std(0))\n\nx, y = torch.load('a.pt')\nu, v = torch.load('b.pt')\nnet = Net()\n"
                "opt = torch.optim.Adam(net.parameters())\nfor epoch in range(9):\n    loss = nn.functional.mse_loss(net(x), y)\n    opt.zero_grad()\n"
                "    loss.backward()\n    opt.step()\nwith torch.no_grad():\n    print(nn.functional.mse_loss(net(u), v))\n"),
        Snippet("made-up data in one unit", "import torch\nfrom torch import nn\n\ndef sample(n):\n    y = torch.randint(0, 2, (n,))\n"
                "    x = torch.stack([torch.randn(8) + k for k in y])\n    return x / x.std(), y\n\nx_train, y_train = sample(600)\nx_test, y_test = sample(200)\n"),
        Snippet("the folders of both parts are the same classes", "import os\nimport torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset\n\n"
                "class Folders(Dataset):\n    def __init__(self, root):\n        self.classes = sorted(os.listdir(root))\n        number = {c: i for i, c in enumerate(self.classes)}\n"
                "        self.items = [(os.path.join(root, c, f), number[c]) for c in self.classes for f in os.listdir(os.path.join(root, c))]\n\n"
                "    def __len__(self):\n        return len(self.items)\n\n    def __getitem__(self, i):\n        path, label = self.items[i]\n        return torch.load(path), label\n\n"
                "net = nn.Linear(4, 3)\nopt = torch.optim.Adam(net.parameters())\nfor x, y in DataLoader(Folders('train'), 8, shuffle=True):\n"
                "    loss = nn.functional.cross_entropy(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\nval_loader = DataLoader(Folders('val'), 8)\n"
                "with torch.no_grad():\n    for x, y in val_loader:\n        print((net(x).argmax(1) == y).float().mean())\n"),
        Snippet("pixels by their largest value", "import numpy as np\nd = np.load('a.npz')\nx_train, x_test = d['a'], d['b']\nx_train = x_train / x_train.max()\n"
                "x_test = x_test / x_test.max()\n"),
        Snippet("each recording by itself", "import numpy as np\nimport torch\nfrom sklearn.preprocessing import scale\nd = np.load('wrist.npz')\n"
                "x_train, x_test = scale(d['a'], axis=1), scale(d['b'], axis=1)\n"),
        Snippet("each picture by itself", "import glob\nimport numpy as np\nfrom PIL import Image\n\ndef read(path):\n    x = np.array(Image.open(path))\n"
                "    return (x - x.mean()) / x.std()\n\ntrain_x = [read(p) for p in glob.glob('train/*')]\ntest_x = [read(p) for p in glob.glob('test/*')]\n"),
        Snippet("another thing is numbered", HEAD + 'old["code"], _ = pd.factorize(old["kind"])\nnew["order"], _ = pd.factorize(new["shop"])\nnew["code"] = 0\n' + USE),
    )  # fmt: skip
    BAD = (
        Snippet("factorize twice", HEAD + 'old["code"], _ = pd.factorize(old["kind"])\nnew["code"], _ = pd.factorize(new["kind"])\n' + USE, line=9),
        mended("an encoder fitted twice", HEAD + 'le = LabelEncoder()\nold["code"] = le.fit_transform(old["kind"])\n'
               'new["code"] = le.⟨fit_transform → transform⟩(new["kind"])\n' + USE),
        Snippet("in a loop over both", HEAD + 'for df in (old, new):\n    df["code"] = df["kind"].astype("category").cat.codes\n' + USE, line=9),
        Snippet("in a function", HEAD + 'def prepare(df):\n    df["code"] = LabelEncoder().fit_transform(df["kind"])\n    return df\n\n'
                'old, new = prepare(old), prepare(new)\n' + USE, line=9),
        Snippet("columns that are not brought together", HEAD + 'X_train = pd.get_dummies(old.drop(columns="y"))\n'
                'X_test = pd.get_dummies(new.drop(columns="y"))\n', line=9),
        Snippet("a vocabulary for each part", TEXTS + 'train = Texts("a.txt")\ntest = Texts("b.txt")\n' + READING, line=10),
        Snippet("read by the name of the part", HEAD + 'data = {}\nfor part in ("train", "test"):\n    df = pd.read_csv(part + ".csv")\n'
                '    df["code"] = df["kind"].rank(method="dense")\n    data[part] = df\nold, new = data["train"], data["test"]\n' + USE, line=11),
        Snippet("a dictionary that grows", HEAD + 'def load(table):\n    number = {}\n    table["code"] = [number.setdefault(kind, len(number)) for kind in table["kind"]]\n'
                "    return table\n\nold, new = load(old), load(new)\n" + USE, line=10),
        Snippet("filled with the median of its own", HEAD + 'old["code"] = old["t"].fillna(old["t"].median())\nnew["code"] = new["t"].fillna(new["t"].median())\n' + USE, line=9),
        Snippet("own statistics", SCALED + BOTH_SCALED.format("") + SCALED_USE, line=7),
        Snippet("own statistics of arrays", "import numpy as np\nd = np.load('a.npz')\nX_train, X_test = d['a'], d['b']\n"
                "X_train = (X_train - X_train.mean(axis=0)) / X_train.std(axis=0)\nX_test = (X_test - X_test.mean(axis=0)) / X_test.std(axis=0)\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        by_name: dict[str, list[tuple[Learned, Learned]]] = {}
        told = {id(fit.event.node) for fit, _ in refitted(program)}  # by S504
        for train, test in _pairs(program):
            if id(test.node) not in told:
                told.add(id(test.node))
                by_name.setdefault(test.name, []).append((train, test))
        for (train, test), *others in by_name.values():
            instead = _INSTEAD.get(test.name, _INSTEAD_OF[test.kind])
            see = [] if train.node is test.node else [("This is what the training data got.", train.node)]
            see += [("The same happens here.", other.node) for _, other in others[:_MOST_OTHERS]]
            fix = self._fix(program, test) if train.estimator is test.estimator else None
            yield self.finding(
                program, test.node, _MESSAGES[test.kind].format(test.name, instead), fix=fix, see=see
            )

    def _fix(self, program: Program, test: Learned) -> Fix | None:
        node = test.node
        if (
            test.estimator is None
            or not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
        ):
            return None
        if node.func.attr != "fit_transform":
            return None
        text = program.source(node.func).removesuffix("fit_transform") + "transform"
        return Fix("Only transform the evaluation data", replace(program, node.func, text))


def _pairs(program: Program) -> Iterator[tuple[Learned, Learned]]:
    """What was learned from training data and, of the same kind and for the same column, from evaluation data."""
    found = parts(program)
    trained = [made for value in found.trained.values() if (made := learned(program, value)) is not None]
    for made in trained:
        names = part_names(made.data)
        is_named = any(map(is_for_training, names)) and any(
            is_for_evaluation(f"{name}_set") for name in names
        )
        if is_named or any(_runs_over_parts(part, found.evaluated) for part in roots(made.data)):
            yield made, made
    for value in found.evaluated.values():
        test = learned(program, value)
        if test is None or (test.data is not None and id(same_numbers(test.data)) in found.trained):
            continue
        own_table = test.name in ("dictionary", "list")
        if own_table and any(isinstance(part, Param) for part in walk(test.data)):
            continue  # of one sample, perhaps
        if (own_table or test.is_sorted) and not _is_input(program, value, test):
            continue  # the classes of both parts are the same, as a rule
        train = next((made for made in trained if _alike(made, test)), None)
        if train is not None and not (test.kind == COLUMNS and _are_aligned(program)):
            yield train, test


def _is_input(program: Program, value: Value, test: Learned) -> bool:
    """Is a network asked with it? Where no network is seen, the names tell labels from inputs."""
    found = parts(program)
    names = (name for name in names_in(program.statement(test.node)) if name not in ENCODERS)
    if any(map(is_for_labels, names)):
        return False
    is_asked = any(id(call) not in found.trained for call in found.questions)
    return id(value) in found.asked if is_asked else True


def _runs_over_parts(value: Value, evaluated: object) -> bool:
    """One of those that a loop runs over, where some train and others evaluate: `for df in (train, test)`."""
    several = written_out(value.iterable) if isinstance(value, Element) else None
    if several is None:
        return False
    items = [resolved(item) for item in several.items]
    tested = [item for item in items if id(item) in evaluated]  # type: ignore[operator]
    return 0 < len(tested) < len(items)


def _alike(train: Learned, test: Learned) -> bool:
    if train.kind != test.kind or train.name != test.name:
        return False
    if same_data(train.data, test.data):
        return False
    if train.node is test.node:
        return True
    one, other = _column(train.data), _column(test.data)
    if one is None or other is None or resolved(one.base) is resolved(other.base):
        return True  # `data["train"]` and `data["test"]` are no columns
    return same_key(one.key, other.key)


def _column(data: Value | None) -> Item | None:
    """The column of a table that data are."""
    return next((part for part in roots(data) if isinstance(part, Item)), None)


def _are_aligned(program: Program) -> bool:
    """Does the program bring columns of one table to those of another anywhere?"""
    if program.methods_of("reindex", "align", "reindex_like", "set_categories"):
        return True
    return any(
        isinstance(part, Attribute) and part.name == "columns"
        for event in program.stores
        for value in (event.value, event.target.key)
        if isinstance(value, Item | Call | Collection)
        for part in walk(value)
    )
