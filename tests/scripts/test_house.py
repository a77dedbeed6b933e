"""scripts/house.py: what counts as logic, as a table of framework facts, as folders that import each other."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

TEXT = '''"""What it is."""

import os
from pathlib import Path

# why
EXAMPLES = (
    1,

    2,
)
PAGE = """
one
two
three
"""


def size(path):
    """Bytes."""
    return os.stat(path).st_size
'''


@pytest.fixture(scope="module")
def house() -> ModuleType:
    script = Path(__file__).resolve().parents[2] / "scripts/house.py"
    spec = importlib.util.spec_from_file_location("house", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["house"] = module
    spec.loader.exec_module(module)
    return module


def test_lines_by_kind(house: ModuleType) -> None:
    kinds = Counter(house.kinds_of_lines(TEXT, ast.parse(TEXT)))
    assert kinds == {"import": 2, "text": 3, "example": 10, "logic": 2, "blank": 4}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LOSSES = frozenset({'mse_loss', 'nll_loss', 'own_loss'})", True),
        ("RATES = {'torch.optim.SGD': 1, 'torch.optim.Adam': 2, 'Lion': 3}", True),
        ("WORDS = ('one', 'two', 'three')", False),
        ("EXAMPLES = ('mse_loss', 'nll_loss', 'l1_loss')", False),
        ("name = choose('mse_loss', 'nll_loss', 'l1_loss')", False),
    ],
)
def test_tables_of_framework_facts(house: ModuleType, text: str, expected: bool) -> None:
    assert house.is_framework_table(ast.parse(text).body[0]) is expected


def test_folders_that_import_each_other(house: ModuleType) -> None:
    def module(name: str, *imports: str) -> object:
        return house.Module(Path(name), name, imports=set(imports))

    folders = {
        "report": [module("report/a.py", "lint"), module("report/b.py", "store")],
        "lint": [module("lint/a.py", "report")],
        "store": [module("store/a.py")],
    }
    assert list(house.mutual(folders)) == ["lint ↔ report"]
