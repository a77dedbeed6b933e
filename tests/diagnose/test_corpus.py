"""The corpus is what its labels say: every entry exists, every place is one line, every cause is a leaf of the taxonomy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netmend.diagnose.detector import DETECTORS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "benchmarks" / "corpus"
LABELS = sorted([*CORPUS.glob("**/labels.json"), *(ROOT / "benchmarks/bench/programs").glob("*/labels.json")])


@pytest.mark.parametrize("labels", LABELS, ids=lambda path: "-".join(path.parent.parts[-2:]))
def test_labels_fit_the_programs(labels: Path) -> None:
    found = json.loads(labels.read_text(encoding="utf-8"))
    assert found
    for name, label in found.items():
        entry = labels.parent / label["entry"]
        compile(entry.read_text(encoding="utf-8"), str(entry), "exec")
        for cause in label["causes"]:
            assert cause["places"], name
            for file, text in cause["places"]:
                lines = (entry.parent / file).read_text(encoding="utf-8").splitlines()
                assert sum(text in line for line in lines) == 1, f"{name}: {text!r}"


def _texts(part: str) -> set[str]:
    return {
        (path.parent / label["entry"]).read_text(encoding="utf-8")
        for path in LABELS
        if part in path.parent.parts[-3:]
        for label in json.loads(path.read_text(encoding="utf-8")).values()
    }


def _count(kind: str) -> int:
    return sum(
        len(json.loads(path.read_text(encoding="utf-8"))) for path in LABELS if path.parent.name == kind
    )


def test_the_split_is_kept_apart() -> None:
    assert not _texts("calibration") & _texts("heldout")


def test_the_corpus_is_large_enough() -> None:
    assert _count("healthy") >= 40 and _count("faulty") >= 90 and _count("bugs21") == 21
    assert len(DETECTORS.classes()) >= 60
