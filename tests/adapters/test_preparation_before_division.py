"""What is seen of resampling and selection before rows are divided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netmend.adapters.preparation.beforehand import codes_of
from netmend.store.reader import read_trace
from netmend.vocabulary import PreparationFact

HEAD = """\
import numpy as np
import torch
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold

rng = np.random.default_rng(0)
X, y = rng.normal(size=(90, 60)), np.arange(90) % 2
"""
BODY = """\
for train, test in KFold(3).split(X, y):
    rows = X[train]
    {0}
    net = torch.nn.Linear(rows.shape[1], 2)
    torch.nn.functional.cross_entropy(net(torch.tensor(rows).float()), torch.tensor(y[train])).backward()
"""


def _facts(folder: Path, text: str) -> dict[str, PreparationFact]:
    (folder / "train.py").write_text(text)
    subprocess.run(
        [sys.executable, "-m", "netmend", "run", "train.py"], cwd=folder, check=True, capture_output=True
    )
    run = next((folder / ".netmend" / "runs").iterdir())
    return {fact.call: fact for fact in read_trace(run).all(PreparationFact)}


def test_a_selection_that_has_seen_the_test_rows(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    choose = "X = SelectKBest(k=5).fit_transform(X, y)\n"
    fit = _facts(tmp_path, HEAD + choose + BODY.format("pass"))["sklearn.feature_selection.fit"]
    assert fit.seen["tested"] == 30 and fit.seen["kept"] == 5
    assert fit.site is not None and fit.site.line == 8


def test_a_selection_within_each_fold_has_not(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    within = "rows = SelectKBest(k=5).fit_transform(rows, y[train])"
    fit = _facts(tmp_path, HEAD + BODY.format(within))["sklearn.feature_selection.fit"]
    assert "tested" not in fit.seen


def test_a_selection_that_is_only_looked_at_has_not(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    look = "print(SelectKBest(k=5).fit(X, y).scores_)\n"
    fit = _facts(tmp_path, HEAD + look + BODY.format("pass"))["sklearn.feature_selection.fit"]
    assert "tested" not in fit.seen


def test_rows_that_were_made_and_then_divided(tmp_path: Path) -> None:
    pytest.importorskip("imblearn")
    made = "from imblearn.over_sampling import RandomOverSampler\ny[:60] = 0\nX, y = RandomOverSampler().fit_resample(X, y)\n"
    resampled = _facts(tmp_path, HEAD + made + BODY.format("pass"))["imblearn.fit_resample"]
    assert resampled.seen["rows_after"] > resampled.seen["rows"] == 90
    assert resampled.seen["tested"] > 0


def test_targets_are_compared_whatever_they_are_kept_in() -> None:
    numbers = np.arange(40) % 3
    texts = np.array(["a", "b", "c"])[numbers]
    assert codes_of(numbers) == codes_of(texts) == codes_of(list(numbers.astype(float)))
    assert codes_of(np.zeros(40)) is None and codes_of(object()) is None
