"""Further examples of the rules: near misses and faults that their pages do without, kept as tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_rule_contract import RULE_CLASSES, checked

from netmend.check.rule import Snippet

EXAMPLES = json.loads(Path(__file__).with_name("further_examples.json").read_text(encoding="utf-8"))


def named(example: dict[str, Any]) -> str:
    return f"{example['code']}-{example['title'].replace(' ', '_')}"


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_each_speaks_where_it_should(example: dict[str, Any], tmp_path: Path) -> None:
    snippet = Snippet(example["title"], example["source"], files=example.get("files", {}))
    result = checked(RULE_CLASSES[example["code"]](), snippet, tmp_path)
    assert not result.problem and not result.failures
    expected = [example["line"]] if example["kind"] == "BAD" else []
    assert [finding.line for finding in result.findings] == expected, f"\n{example['source']}"
