"""What is shipped from the training: the model and the list of report words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netmend.errors import NetmendError
from netmend.locate import words
from netmend.locate.features import FEATURE_NAMES, Features
from netmend.locate.fusion import MODEL, TreeFusion, default_fusion, read_trees
from netmend.locate.words import telling


def test_the_shipped_model_ranks_by_features_that_exist() -> None:
    fusion = read_trees(MODEL)
    assert set(fusion.features) <= set(FEATURE_NAMES)
    assert isinstance(default_fusion(), TreeFusion)
    used = {int(number) for tree in fusion.trees for number in tree.feature}
    assert used <= set(range(len(fusion.features)))


def test_the_shipped_model_prefers_evidence() -> None:
    table = np.zeros((3, len(FEATURE_NAMES)))
    table[1, [FEATURE_NAMES.index(name) for name in ("fixed", "fixed_rank", "body_all", "trace")]] = 1.0
    table[2, [FEATURE_NAMES.index(name) for name in ("fixed", "body_all")]] = 0.4
    scores = default_fusion().rank(Features(FEATURE_NAMES, table))
    assert scores[1] > scores[2] > scores[0]


def test_words_of_every_report_tell_little() -> None:
    assert telling("code") < telling("reproduc") < telling("checkpoint") <= 1.0
    assert telling("trialrunn") == 1.0
    assert all(0.0 <= weight <= 1.0 for weight in words._weights().values())


def test_a_broken_word_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.txt").write_text("# nothing\nword many\n", encoding="utf-8")
    monkeypatch.setattr(words, "REPORT_WORDS", tmp_path / "words.txt")
    words._weights.cache_clear()
    with pytest.raises(NetmendError, match=r"words\.txt cannot be read"):
        telling("word")
    words._weights.cache_clear()
