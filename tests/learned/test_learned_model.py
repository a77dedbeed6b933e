"""The model file: the same after a round trip, no pickle, clear words about a damaged one; and the shipped one fits this version."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ranking.combination import HEALTHY, TERMS, Combination, terms
from ranking.features import words
from ranking.forest import LEAF
from ranking.model import FILE, Model, load, save
from ranking.predict import judge_values

from netmend.errors import UsageError
from netmend.vocabulary import LEAVES

Make = Callable[..., Model]


def test_what_is_loaded_is_what_was_saved(tmp_path: Path, small_model: Make) -> None:
    file = tmp_path / "model.npz"
    made = small_model()
    save(made, file)
    read = load(file)
    assert read.forest.features == made.forest.features and read.forest.classes == made.forest.classes
    for name in ("base", "starts", "speaks_of", "feature", "threshold", "right", "missing_left", "value"):
        inner = made.forest.feature != LEAF
        one, two = getattr(made.forest, name), getattr(read.forest, name)
        if name == "right":  # leaves have no right child
            one, two = one[inner], two[inner]
        assert np.allclose(one, two, rtol=1e-7), name
    assert (read.combination, read.least_confidence, read.made_from) == (made.combination, 0.5, {"runs": 20})


@pytest.mark.parametrize(
    "damage", ["absent", "not a zip", "another format", "a tree that leads nowhere", "pickled"]
)
def test_a_damaged_file_is_told_with_what_to_do(tmp_path: Path, small_model: Make, damage: str) -> None:
    file = tmp_path / "model.npz"
    save(small_model(), file)
    with np.load(file) as arrays:
        parts = dict(arrays)
    if damage == "absent":
        file.unlink()
    elif damage == "not a zip":
        file.write_bytes(b"nonsense")
    elif damage == "another format":
        parts["about"] = np.array(str(parts["about"]).replace('"format": 1', '"format": 99'))
        np.savez(file, **parts)
    elif damage == "a tree that leads nowhere":
        parts["right_offset"][0] = 70
        np.savez(file, **parts)
    else:
        parts["classes"] = np.array([HEALTHY, "HYP-LR-HIGH"], dtype=object)
        np.savez(file, **parts)
    with pytest.raises(UsageError, match=r"learned model .* cannot be read"):
        load(file)


def test_a_stuck_run_is_judged_and_a_falling_one_is_not(small_model: Make) -> None:
    model = small_model()
    stuck = judge_values({"loss_last": 0.0}, {}, model)
    assert stuck.first == "HYP-LR-HIGH"
    assert stuck.confidences["HYP-LR-HIGH"] == pytest.approx(0.9, abs=0.01)
    assert judge_values({"loss_last": -1.0}, {}, model).first is None


def test_a_cause_that_the_forest_never_saw_is_left_to_the_rules(small_model: Make) -> None:
    judged = judge_values({"loss_last": 0.0}, {"OPT-CLIP": 4.0, "LOOP-ZERO-GRAD": -2.0}, small_model())
    assert "OPT-CLIP" in judged.confidences and "OPT-CLIP" not in judged.shares
    assert judged.confidences["OPT-CLIP"] == pytest.approx(1 / (1 + math.exp(-4.0)))
    assert judged.confidences["LOOP-ZERO-GRAD"] < 0.5


def test_terms_say_who_leads() -> None:
    shares = {HEALTHY: 0.1, "HYP-LR-HIGH": 0.6, "OPT-SELECT": 0.3}
    of = dict(zip(TERMS, terms("HYP-LR-HIGH", shares, {"HYP-LR-HIGH": 1.0, "OPT-SELECT": 2.0}), strict=True))
    assert of["share_lead"] > 0
    assert of["rules_lead"] == pytest.approx(-1.0) and of["rules_first"] == 0 and of["agree"] == 0
    of = dict(zip(TERMS, terms("HYP-LR-HIGH", shares, {}), strict=True))
    assert of["accused"] == 0 and of["rules"] == 0 and of["rules_first"] == 0


def test_a_combination_needs_all_its_weights() -> None:
    with pytest.raises(ValueError, match=f"needs {len(TERMS)} weights"):
        Combination(0.0, (1.0,))


def test_the_shipped_model_speaks_of_features_and_causes_that_exist() -> None:
    model = load()
    assert set(model.forest.features) <= set(words())
    assert set(model.forest.classes) - {HEALTHY} <= set(LEAVES)
    assert HEALTHY in model.forest.classes
    assert 0.2 < model.least_confidence < 1
    assert FILE.stat().st_size < 2_000_000
