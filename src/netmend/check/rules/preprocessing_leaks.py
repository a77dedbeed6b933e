"""Preprocessing that has seen the test data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import before
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Value
from netmend.program.meaning.arrays import same_numbers, split_part
from netmend.program.meaning.copies import are_labels_kept, copied_within, is_balancing
from netmend.program.meaning.fitting import SCALERS, SUPERVISED, Fit, centred_within, fits, fitted_within
from netmend.program.meaning.partitions import FOLDS, partitions
from netmend.program.meaning.rows import columns_stored, holds_all, made_of
from netmend.program.meaning.statements import is_for_evaluation, is_for_training
from netmend.program.text.edits import replace
from netmend.program.text.queries import names_in
from netmend.vocabulary.finding import Finding, Fix

BEFORE_HEAD = """\
import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler, MinMaxScaler
X, y = np.load("x.npy"), np.load("y.npy")
"""


class FittedBeforeSplit(StaticRule, code="S503", cause="VAL-TEST-LEAK"):
    """A scaler, decomposition or feature selection is fitted to all data, which is split into training and test after that.

    The fit has seen the test rows: their range, mean or even their labels shape the training inputs. The test result is then too
    good, in time series and with feature selection by a lot.

    Split first, fit on the training part, and only `transform` the test part.
    """

    message = "This is fitted to all data before the split, so the test part leaks into training; fit on the training part only."
    chosen = "{} sees the targets of all rows, those of the evaluated part too, and keeps what goes with them by chance; fit it within each training part only."
    triggers = ("train_test_split(", "fit_transform(", ".fit(", "x_train", "X_train", "train_x", "train_data")
    patterns = (r"train_test_split\(|fit_transform\(|\.split\(",)

    GOOD = (
        Snippet("split first", BEFORE_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nscaler = StandardScaler()\n"
                "X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n"),
        Snippet("labels may be encoded", BEFORE_HEAD + "y = LabelEncoder().fit_transform(y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("a second split of the training part", BEFORE_HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX = StandardScaler().fit_transform(X)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
        Snippet("row by row", BEFORE_HEAD + "X = X - X.mean(axis=1, keepdims=True)\nX_train, X_test = train_test_split(X)\n"),
        Snippet("statistics of the training rows", BEFORE_HEAD + "mean, std = X[:800].mean(0), X[:800].std(0)\nX = (X - mean) / std\n"
                "X_train, X_test = X[:800], X[800:]\n"),
        Snippet("columns are taken apart, not rows", BEFORE_HEAD + "X = StandardScaler().fit_transform(X)\nfeatures, target = X[:, :8], X[:, 8:]\n"),
        Snippet("all data is one training set", BEFORE_HEAD + "X = StandardScaler().fit_transform(X)\nfirst, second = X[:100], X[100:]\n"),
        Snippet("limits, not data", BEFORE_HEAD + "scaler = MinMaxScaler().fit(np.array([[0, 1], [5, 9]]))\nX = scaler.transform(X)\nX_train, X_test = train_test_split(X)\n"),
        Snippet("of earlier rows", BEFORE_HEAD + "import pandas as pd\ndf = pd.read_csv('a.csv')\nscaler = StandardScaler().fit(df[df.year < 2010][['a']])\nrecent = df[df.year >= 2010]\n"
                "x = scaler.transform(recent[['a']])\ntrain, test = train_test_split(x)\n"),
        Snippet("units of the target", BEFORE_HEAD + "y = (y - y.mean()) / y.std()\nX_train, y_train, X_test, y_test = X[:800], y[:800], X[800:], y[800:]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("scaled, then split", BEFORE_HEAD + "scaler = StandardScaler()\nX = scaler.fit_transform(X)\n"
                "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)\n", line=8),
        Snippet("fit and transform", BEFORE_HEAD + "def load(X, y):\n    pca = PCA(10)\n    pca.fit(X)\n    Z = torch.tensor(pca.transform(X))\n"
                "    return train_test_split(Z, y)\n", line=9),
        Snippet("a series cut in two", BEFORE_HEAD + "scaled = MinMaxScaler().fit_transform(series.reshape(-1, 1))\nn = int(len(scaled) * 0.8)\n"
                "train = scaled[:n]\ntest = scaled[n:]\n", line=7),
        Snippet("columns of a table", BEFORE_HEAD + "import pandas as pd\ndf = pd.read_csv('a.csv')\ncolumns = ['a', 'b']\n"
                "df[columns] = StandardScaler().fit_transform(df[columns])\ntrain, test = train_test_split(df)\n", line=10),
        Snippet("features picked before the folds", BEFORE_HEAD + "from sklearn.feature_selection import SelectKBest, f_classif\nfrom sklearn.model_selection import KFold\n"
                "best = SelectKBest(f_classif, k=30)\nbest.fit(X, y)\nX = X[:, best.get_support()]\nfor tr, te in KFold(5).split(X):\n    print(X[tr], y[te])\n", line=10),
        Snippet("rows by number", BEFORE_HEAD + "Z = MinMaxScaler().fit_transform(X)\norder = np.random.permutation(len(X))\ntrain, test = order[:800], order[800:]\nprint(Z[train], Z[test])\n", line=7),
        Snippet("by hand", BEFORE_HEAD + "X = (X - X.mean(axis=0)) / X.std(axis=0)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for partition in partitions(program):
            split = partition.event
            for data in partition.inputs:
                parts = [*made_of(program, data, split.order), *_of_columns(program, data, split.order)]
                for fit in fitted_within(program, parts):
                    if fit.event.order < split.order and holds_all(program, fit.data, data):
                        words = self.chosen.format(fit.kind) if fit.kind in SUPERVISED else None
                        yield self._at(program, fit.event.node, split.node, words)
                if partition.kind == FOLDS:
                    continue
                for operation, centred in centred_within(parts):
                    written = operation.node
                    if written is None or not holds_all(program, centred, data):
                        continue
                    if program.function(written) is program.function(split.node):
                        yield self._at(program, written, split.node)

    def _at(
        self, program: Program, node: ast.AST, split: ast.AST, words: str | None = None
    ) -> Finding | None:
        return self.finding(program, node, words, see=[("The data is split here.", split)])


def _of_columns(program: Program, table: Value, until: int) -> Iterator[Value]:
    """What the columns of a table are made of that were stored before it is split."""
    for event in columns_stored(program, same_numbers(table)):
        if event.order < until:
            yield from made_of(program, event.value, until)


TEST_HEAD = "import torch\nfrom sklearn.decomposition import PCA\nfrom sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler\n\n"
SPLIT_LINE = "X_train, X_test, y_train, y_test = train_test_split(X, y)\n"


class FittedToTestData(StaticRule, code="S504", cause="PRE-TRAIN-TEST-SKEW"):
    """A scaler or decomposition that was fitted to the training data is fitted again, to the test data.

    Training and test inputs are then scaled differently, the same number means two things. The result on the test set is wrong,
    and a single new sample could not be scaled like this at all.

    Use `transform` on the test data.
    """

    message = (
        "This is fitted again on the test data, so the two parts are scaled differently; use transform here."
    )
    triggers = (".fit_transform(", ".fit(")

    GOOD = (
        Snippet(
            "only transformed",
            TEST_HEAD
            + SPLIT_LINE
            + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n",
        ),
        Snippet(
            "a picture of the test data",
            TEST_HEAD + SPLIT_LINE + "model.fit(X_train, y_train)\npoints = PCA(2).fit_transform(X_test)\n",
        ),
    )
    BAD = (
        mended("fit_transform twice", TEST_HEAD + SPLIT_LINE + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.⟨fit_transform → transform⟩(X_test)\n"),
        Snippet("a scaler for each part", TEST_HEAD + "def scale(train_x, test_x):\n    train_x = StandardScaler().fit_transform(train_x)\n"
                "    test_x = StandardScaler().fit_transform(test_x)\n    return train_x, test_x\n", line=8),
        mended("folds", TEST_HEAD + "for train_idx, test_idx in folds.split(X):\n    scaler = StandardScaler()\n    a = scaler.fit_transform(X[train_idx])\n"
                "    b = scaler.⟨fit_transform → transform⟩(X[test_idx])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for fit, same in refitted(program):
            yield self.finding(program, fit.event.node, fix=self._fix(program, fit) if same else None)

    def _fix(self, program: Program, fit: Fit) -> Fix | None:
        node = fit.event.node
        if not fit.transforms or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        text = program.source(node.func)
        edits = replace(program, node.func, text.removesuffix("fit_transform") + "transform")
        return (
            Fix("Only transform the test data", edits) if edits and text.endswith("fit_transform") else None
        )


@once
def refitted(program: Program) -> tuple[tuple[Fit, bool], ...]:
    """Fits to test data after one like it to training data, and whether it is the very same estimator."""
    known = fits(program)
    found = []
    for fit in known:
        if not _is_test(program, fit):
            continue
        earlier = [other for other in known if before(other.event, fit.event) and _is_train(program, other)]
        same = any(other.estimator is fit.estimator for other in earlier)
        alike = any(
            other.kind == fit.kind and fit.kind in SCALERS and _pairs(program, other, fit)
            for other in earlier
        )
        if same or alike:
            found.append((fit, same))
    return tuple(found)


def _is_test(program: Program, fit: Fit) -> bool:
    part = split_part(fit.data)
    if part is not None:
        return part[1] % 2 == 1
    return is_for_evaluation(_words(program, fit))


def _is_train(program: Program, fit: Fit) -> bool:
    part = split_part(fit.data)
    return (part is not None and part[1] % 2 == 0) or is_for_training(_words(program, fit))


def _pairs(program: Program, train: Fit, test: Fit) -> bool:
    """Do the names of both differ only in the words for training and test: `X_train` and `X_test`?"""
    one, other = _words(program, train), _words(program, test)
    return _without(one) == _without(other)


def _without(name: str) -> str:
    for word in ("training", "train", "validation", "valid", "val", "test", "Train", "Test", "Valid", "Val"):
        name = name.replace(word, "")
    return name


def _words(program: Program, fit: Fit) -> str:
    """The names in the argument, in one line: `X_test`, `X_test_idx`."""
    return "_".join(names_in(fit.data_node))


RESAMPLED_HEAD = "import torch\nfrom imblearn.over_sampling import SMOTE, RandomOverSampler\nfrom imblearn.under_sampling import RandomUnderSampler\nfrom sklearn.model_selection import train_test_split\n\n"


TABLE_HEAD = "import numpy as np\nimport pandas as pd\nfrom sklearn.model_selection import GroupKFold, KFold, train_test_split\nfrom sklearn.utils import resample\ndf = pd.read_csv('a.csv')\n"


class ResampledBeforeSplit(StaticRule, code="S518", cause="VAL-TEST-LEAK"):
    """Rare classes are filled up with copies, or rows are doubled by changed copies, and only then the data is split.

    Copies of one row, or points between two rows, land on both sides of the split. The network is tested on what it was trained
    on, and on a class balance that does not exist outside.

    Split first, then resample the training part only.
    """

    message = "Rows are duplicated before the split, so copies end up in training and test; split first, resample the training part."
    evaluated = "The test part is resampled, so the score is for a balance of classes and for rows that do not exist; leave the test part as it is."
    triggers = (
        "fit_resample",
        "fit_sample",
        "resample(",
        "replace=True",
        "with_replacement",
        "choice(",
        "choices(",
        "repeat",
        "concat",
        "cat(",
        "stack(",
        "append(",
    )
    patterns = (r"train_test_split\(|random_split\(|\.split\(|fit_resample\(",)

    GOOD = (
        Snippet("split first", RESAMPLED_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nX_train, y_train = SMOTE().fit_resample(X_train, y_train)\n"),
        Snippet("rows are only dropped", RESAMPLED_HEAD + "X, y = RandomUnderSampler().fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("training part split once more", RESAMPLED_HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX, y = SMOTE().fit_resample(X, y)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
        Snippet("drawn without replacement", TABLE_HEAD + "rare, common = df[df.y == 1], df[df.y == 0]\ndf = pd.concat([rare, common.sample(len(rare))])\ntrain, test = train_test_split(df)\n"),
        Snippet("in the fold", TABLE_HEAD + "X, y = df.drop(columns='y').values, df.y.values\nfor tr, te in KFold(5).split(X, y):\n    more = np.random.choice(tr[y[tr] == 1], 900)\n"
                "    tr = np.concatenate([tr, more])\n    print(X[tr], X[te])\n"),
        Snippet("columns side by side", "import numpy as np\nfrom sklearn.model_selection import train_test_split\nx = np.load('x.npy')\nx = np.concatenate([x, x ** 2], axis=1)\na, b = train_test_split(x)\n"),
        Snippet("real and corrupted rows", "import torch\nfrom sklearn.model_selection import train_test_split\nx = torch.load('a.pt')\nx2 = torch.cat([x, x + torch.randn_like(x)])\n"
                "y = torch.cat([torch.ones(len(x)), torch.zeros(len(x))])\na, b, c, d = train_test_split(x2, y)\n"),
        Snippet("one of two", "import numpy as np\nfrom sklearn.model_selection import train_test_split\nrows = []\nfor x in np.load('x.npy'):\n    if x[0] > 0:\n        rows.append(x)\n"
                "    else:\n        rows.append(-x)\na, b = train_test_split(np.array(rows))\n"),
        Snippet("windows of a recording", "import numpy as np\nfrom sklearn.model_selection import train_test_split\nrows = []\nfor x in np.load('x.npy'):\n    for i in range(0, 90, 30):\n"
                "        rows.append(x[i : i + 30])\na, b = train_test_split(np.array(rows))\n"),
        Snippet("copies of one patient stay together", TABLE_HEAD + "df = pd.concat([df, df[df.y == 1]])\nfor tr, te in GroupKFold(5).split(df, df.y, df.patient):\n    print(df.iloc[tr], df.iloc[te])\n"),
    )  # fmt: skip
    BAD = (
        Snippet("synthetic rows", RESAMPLED_HEAD + "X, y = SMOTE(random_state=1).fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=6),
        Snippet("copies", RESAMPLED_HEAD + "def load(X, y):\n    sampler = RandomOverSampler()\n    rows, labels = sampler.fit_resample(X, y)\n"
                "    return train_test_split(torch.tensor(rows), labels)\n", line=8),
        Snippet("minority drawn again", TABLE_HEAD + "rare, common = df[df.y == 1], df[df.y == 0]\nmore = resample(rare, n_samples=len(common), random_state=0)\n"
                "both = pd.concat([common, more])\ntrain, test = train_test_split(both, stratify=both.y)\n", line=7),
        Snippet("pandas", TABLE_HEAD + "rare, common = df[df.y == 1], df[df.y == 0]\ndf = pd.concat([common, rare.sample(len(common), replace=True)])\n"
                "train, test = train_test_split(df)\n", line=7),
        Snippet("the rare rows four times more", TABLE_HEAD + "df = pd.concat([df] + [df[df.y == 1]] * 4)\ntrain, test = train_test_split(df)\n", line=6),
        Snippet("rows by number", TABLE_HEAD + "X, y = df.drop(columns='y').values, df.y.values\nrare = np.where(y == 1)[0]\nmore = np.random.choice(rare, 900)\n"
                "X, y = np.concatenate([X, X[more]]), np.concatenate([y, y[more]])\nfor tr, te in KFold(5, shuffle=True).split(X, y):\n    print(X[tr], X[te])\n", line=8),
        Snippet("mirrored", "import torch\nfrom torch.utils.data import TensorDataset, random_split\nx, y = torch.load('a.pt'), torch.load('b.pt')\n"
                "x, y = torch.cat([x, x.flip(-1)]), torch.cat([y, y])\ntrain, test = random_split(TensorDataset(x, y), [0.8, 0.2])\n", line=4),
        Snippet("noise on lists", "import numpy as np\nfrom sklearn.model_selection import train_test_split\nrows, labels = [], []\nfor x, y in zip(np.load('x.npy'), np.load('y.npy')):\n"
                "    rows.append(x)\n    labels.append(y)\n    rows.append(x + np.random.normal(0, 0.1, x.shape))\n    labels.append(y)\na, b, c, d = train_test_split(np.array(rows), labels)\n", line=7),
        Snippet("the test part", RESAMPLED_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nX_test, y_test = RandomUnderSampler().fit_resample(X_test, y_test)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for partition in partitions(program):
            split = partition.event
            if partition.by_group or not all(are_labels_kept(program, value) for value in partition.targets):
                continue
            for data in partition.inputs:
                copied = copied_within(program, made_of(program, data, split.order))
                # inputs and targets that are doubled in one line are told once
                lines = {getattr(part.node, "lineno", 0): part for part in reversed(copied)}
                for part in lines.values():
                    yield self.finding(program, part.node, see=[("The data is split here.", split.node)])
        yield from self._evaluated(program)

    def _evaluated(self, program: Program) -> Findings:
        """The test part itself is resampled: what is reported then is for rows and a balance that do not exist."""
        for event in program.methods_of("fit_resample", "fit_sample"):
            part = split_part(event.call.argument("X", 0))
            if part is not None and part[1] % 2 == 1 and is_balancing(event.call):
                yield self.finding(program, event.node, self.evaluated)
