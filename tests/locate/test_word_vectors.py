"""Words that stand near the same words point the same way; texts are the mean of their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netmend.errors import NetmendError
from netmend.locate import classify_features as module
from netmend.locate.bug_report import read_report
from netmend.locate.classify_features import VECTOR_SCALES, WordVectors, pack, vector_features, word_vectors

SMALL = WordVectors({"gpu": 0, "cuda": 1, "doc": 2}, np.array([[90, 10], [80, 30], [-5, 100]], dtype=np.int8))


def test_a_text_has_the_direction_of_its_words() -> None:
    mean = SMALL.mean(["gpu", "gpu", "cuda", "unknown"])
    assert np.linalg.norm(mean) == pytest.approx(1.0)
    expected = np.log(3) * np.array([90.0, 10.0]) + np.log(2) * np.array([80.0, 30.0])
    assert mean == pytest.approx(expected / np.linalg.norm(expected))
    assert not SMALL.mean(["unknown"]).any()


def test_shipped_vectors_know_what_is_alike() -> None:
    vectors = word_vectors()

    def alike(one: str, other: str) -> float:
        return float(vectors.mean([one]) @ vectors.mean([other]))

    assert alike("gpu", "cuda") > alike("gpu", "doc") + 0.3
    assert alike("linux", "mac") > alike("linux", "loss") + 0.3


def test_parts_of_a_report_are_told_apart() -> None:
    report = read_report("Nothing else.\n\nRuntimeError: CUDA error: no kernel image", "Fails on the GPU")
    found = vector_features(report)
    for part, scale in VECTOR_SCALES.items():
        values = [value for name, value in found.items() if name.startswith(f"{part} direction")]
        assert np.linalg.norm(values) == pytest.approx(scale)


def test_a_damaged_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    pack(["one", "two"], np.zeros((3, 4), np.int8), file)
    monkeypatch.setattr(module, "VECTORS", file)
    word_vectors.cache_clear()
    try:
        with pytest.raises(NetmendError, match="2 words, 3 vectors"):
            word_vectors()
        file.write_bytes(b"no archive")
        with pytest.raises(NetmendError, match="cannot be read"):
            word_vectors()
    finally:
        word_vectors.cache_clear()
