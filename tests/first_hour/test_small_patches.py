"""`netmend mend` recommends a small patch where it does as well as one that changes nearly everything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commands_typed import netmend, python

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_gets_a_patch_of_few_weights_within_its_bound(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    shutil.copy(EXAMPLES / "mend_digits.py", tmp_path)
    assert python(tmp_path, "mend_digits.py").returncode == 0
    words = [
        "mend",
        "digits/model.pt",
        "--model",
        "mend_digits.py:network",
        "--method",
        "sparse_mixing,mixing",
    ]
    data = ["--failing", "digits/failing.npz", "--guard", "digits/guard.npz", "--json", "found.json"]
    ended = netmend(tmp_path, *words, *data)
    assert ended.returncode == 0, ended.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    (chosen,) = [one for one in found["tried"] if one["method"] == found["recommended"]]
    assert chosen["share"] < 0.5
