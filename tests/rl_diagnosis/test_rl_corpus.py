"""The corpus of agents is what its expectations say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netmend.vocabulary import LEAVES

CORPUS = Path(__file__).parents[2] / "benchmarks" / "corpus"
FILES = sorted(
    [*(CORPUS / "calibration/rl").glob("*/expected.json"), *(CORPUS / "heldout_rl").glob("*/expected.json")]
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: "-".join(file.parent.parts[-3:]))
def test_expectations_fit_the_programs(file):
    found = json.loads(file.read_text(encoding="utf-8"))
    assert {label["entry"] for label in found.values()} == {path.name for path in file.parent.glob("*.py")}
    for name, label in found.items():
        text = (file.parent / label["entry"]).read_text(encoding="utf-8")
        compile(text, name, "exec")
        assert bool(label["causes"]) == (file.parent.name == "faulty")
        for cause in label["causes"]:
            assert cause["code"] in LEAVES and set(cause["accept"]) <= set(LEAVES)
            for _, place in cause["places"]:
                assert sum(place in line for line in text.splitlines()) == 1, f"{name}: {place!r}"


def test_both_parts_have_enough_of_each_kind():
    counts = {file.parent.parts[-2:]: len(json.loads(file.read_text(encoding="utf-8"))) for file in FILES}
    assert counts["rl", "healthy"] >= 12 and counts["rl", "faulty"] >= 12
    assert counts["heldout_rl", "healthy"] >= 8 and counts["heldout_rl", "faulty"] >= 8
