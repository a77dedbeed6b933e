"""How a library's name is written where it is needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sources import Program

from netmend.program.source.naming import imports, qualified, rename_callee, spelled


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Beside a name in use, its neighbour is reached the same way.
        ("import torch\nopt = torch.optim.SGD(p)\n", "import torch\nopt = torch.optim.Adam(p)\n"),
        ("from torch import optim\nopt = optim.SGD(p)\n", "from torch import optim\nopt = optim.Adam(p)\n"),
        ("import torch.optim as o\nopt = o.SGD(p)\n", "import torch.optim as o\nopt = o.Adam(p)\n"),
        (
            "from torch.optim import SGD\nopt = SGD(p)\n",
            "from torch.optim import SGD, Adam\nopt = Adam(p)\n",
        ),
        (
            "from torch.optim import SGD as Descent\nopt = Descent(p)\n",
            "from torch.optim import SGD as Descent, Adam\nopt = Adam(p)\n",
        ),
        (
            "from torch.optim import (\n    SGD,  # plain\n    RMSprop,\n)\nopt = SGD(p)\n",
            "from torch.optim import (\n    SGD,  # plain\n    RMSprop, Adam,\n)\nopt = Adam(p)\n",
        ),
        # Known already.
        (
            "from torch.optim import SGD, Adam\nopt = SGD(p)\n",
            "from torch.optim import SGD, Adam\nopt = Adam(p)\n",
        ),
        (
            "from torch.optim import SGD, Adam as A\nopt = SGD(p)\n",
            "from torch.optim import SGD, Adam as A\nopt = A(p)\n",
        ),
        # Nothing to lean on.
        (
            "from torch.optim import *\nopt = SGD(p)\n",
            "from torch.optim import *\nfrom torch.optim import Adam\nopt = Adam(p)\n",
        ),
        ('"""Words."""\nopt = SGD(p)\n', '"""Words."""\nfrom torch.optim import Adam\nopt = Adam(p)\n'),
        (
            "from __future__ import annotations\nfrom mine import SGD\nopt = SGD(p)\n",
            "from __future__ import annotations\nfrom mine import SGD\nfrom torch.optim import Adam\nopt = Adam(p)\n",
        ),
        (
            "from .optim import SGD\nopt = SGD(p)\n",
            "from .optim import SGD\nfrom torch.optim import Adam\nopt = Adam(p)\n",
        ),
        # An import far below the use does not help.
        (
            "from mine import SGD\nopt = SGD(p)\nimport matplotlib\nmatplotlib.show()\n",
            "from mine import SGD\nfrom torch.optim import Adam\nopt = Adam(p)\nimport matplotlib\nmatplotlib.show()\n",
        ),
        # What another function imports for itself is not known here; what this one imports is.
        (
            "from mine import SGD\n\n\ndef other():\n    from torch.optim import Adam\n\n\nopt = SGD(p)\n",
            "from mine import SGD\nfrom torch.optim import Adam\n\n\ndef other():\n    from torch.optim import Adam\n\n\nopt = Adam(p)\n",
        ),
        (
            "def main():\n    import torch\n    opt = torch.optim.SGD(p)\n",
            "def main():\n    import torch\n    opt = torch.optim.Adam(p)\n",
        ),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_another_name_for_a_call(tmp_path: Path, before: str, after: str, line_end: str) -> None:
    name = "Descent" if "Descent" in before else "SGD"
    program = Program(tmp_path, before.replace("\n", line_end))
    edits = rename_callee(program.file, program.call(name), "torch.optim.Adam")
    assert program.after(edits)["train.py"] == after.replace("\n", line_end)


@pytest.mark.parametrize(
    ("source", "name", "is_new"),
    [
        ("import torch\nx = 1\n", "torch.nn.functional.relu", False),
        ("import torch\nfrom torch import nn\nx = 1\n", "nn.functional.relu", False),
        ("import torch.nn.functional as F\nimport torch\nx = 1\n", "F.relu", False),
        ("from torch.nn.functional import relu as r\nx = 1\n", "r", False),
        ("import numpy\nx = 1\n", "relu", True),
        ("x = 1\n", "relu", True),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch.nn.functional.relu", False),
    ],
)
def test_the_shortest_way_to_a_name(tmp_path: Path, source: str, name: str, is_new: bool) -> None:
    program = Program(tmp_path, source)
    found, extra = spelled(program.file, "torch.nn.functional.relu")
    assert found == name and bool(extra) is is_new
    if is_new:
        assert "from torch.nn.functional import relu\n" in program.after(extra)["train.py"]


def test_what_is_imported(tmp_path: Path) -> None:
    source = "import torch, numpy as np\nimport torch.nn\nfrom torch import optim as o\nfrom . import mine\n"
    program = Program(tmp_path, source)
    assert imports(program.file) == {"torch": "torch", "np": "numpy", "o": "torch.optim"}


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("o.Adam", "torch.optim.Adam"),
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("x.Adam", ""),
        ("f().a", ""),
        ("o", "torch.optim"),
    ],
)
def test_what_an_expression_stands_for(tmp_path: Path, expression: str, name: str) -> None:
    program = Program(tmp_path, f"import torch\nfrom torch import optim as o\nx = {expression}\n")
    statement = program.file.tree.body[-1]
    assert isinstance(statement, ast.Assign)
    assert qualified(program.file, statement.value) == name
