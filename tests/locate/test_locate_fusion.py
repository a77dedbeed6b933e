"""Features and what makes one order of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from repository_in_memory import corpus_of, query_of

from netmend.errors import NetmendError
from netmend.locate import fusion
from netmend.locate.features import FEATURE_NAMES, PENALTIES, WEIGHTS, Features, features, measure
from netmend.locate.fusion import FixedFusion, read_trees

FILES = {
    "a.py": "def train_model():\n    return 1\n",
    "b.py": "def read_table():\n    return 2\n",
    "examples/c.py": "def read_table():\n    return 2\n",
}


def test_features_have_names_and_are_scaled() -> None:
    corpus = corpus_of(FILES)
    found = features(query_of("train_model fails in read_table, train_model"), corpus)
    assert found.matrix.shape == (3, len(FEATURE_NAMES))
    assert found.names == FEATURE_NAMES
    assert found.column("body_all").max() == 1.0
    assert found.column("names_all_rank").tolist() == [1.0, 1 / 2.5, 1 / 2.5]
    assert found.column("trace_rank").tolist() == [0.0, 0.0, 0.0]
    assert np.allclose(found.column("files"), np.log1p(3))


def test_fixed_weights_name_existing_signals() -> None:
    scores = measure(query_of("x"), corpus_of(FILES)).scores
    assert set(WEIGHTS) | set(PENALTIES) <= set(scores)


def test_fixed_weights_hold_examples_back() -> None:
    corpus = corpus_of(FILES)
    scores = FixedFusion().rank(features(query_of("read_table is wrong"), corpus))
    assert [corpus.paths[row] for row in np.argsort(-scores)] == ["b.py", "examples/c.py", "a.py"]


def written(folder: Path, **changes: object) -> Path:
    trees = [
        {
            "feature": [0, 1],
            "threshold": [0.5, 2.0],
            "left": [1, -3],
            "right": [-1, -2],
            "value": [10.0, 20.0, 30.0],
        },
        {"feature": [], "threshold": [], "left": [], "right": [], "value": [0.25]},
    ]
    plain = {"format": 1, "features": ["one", "two"], "fixed": 0.5, "trees": trees, **changes}
    file = folder / "model.json"
    file.write_text(json.dumps(plain))
    return file


MATRIX = np.array([[9.0, 0.5, 2.0, 1.0], [9.0, 0.5, 2.1, 0.8], [9.0, 0.6, 0.0, 0.2]])


def test_trees_by_hand(tmp_path: Path) -> None:
    fusion = read_trees(written(tmp_path))
    scores = fusion.rank(Features(("other", "one", "two", "fixed"), MATRIX))
    assert scores.tolist() == pytest.approx([30.25 + 0.5, 20.25 + 0.4, 10.25 + 0.1])


def test_in_large_repositories_the_rest_keeps_the_fixed_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "_JUDGED", 1)
    scores = read_trees(written(tmp_path)).rank(Features(("other", "one", "two", "fixed"), MATRIX))
    assert np.argsort(-scores).tolist() == [0, 1, 2]
    assert scores[0] == pytest.approx(30.75)


@pytest.mark.parametrize("changes", [{"format": 99}, {"trees": [{}]}, {"features": None}])
def test_a_wrong_model_file_is_told(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(NetmendError, match=r"model\.json cannot be read"):
        read_trees(written(tmp_path, **changes))
