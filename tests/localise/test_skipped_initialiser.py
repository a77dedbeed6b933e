"""Lines that would have filled a parameter, and whether they are one of several ways to choose from."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.skipped_initialiser import initialiser_of
from netmend.localise.source import Sources


def found(tmp_path: Path, text: str):
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")
    return initialiser_of(Sources(str(tmp_path), "train.py"), "train.py", "dt_bias")


@pytest.mark.parametrize(
    "line",
    [
        "module.dt_bias.copy_(inverse(dt))",
        "nn.init.uniform_(self.dt_bias, -7, -2)",
        "self.dt_bias.data = inverse(dt)",
        "self.dt_bias.data.normal_(0, 0.1)",
        "m.dt_bias[:] = inverse(dt)",
    ],
)
def test_lines_that_give_a_parameter_its_start(tmp_path: Path, line: str) -> None:
    initialiser = found(tmp_path, f"def start(self, module, m, dt):\n    if ready:\n        {line}\n")
    assert initialiser is not None and initialiser.site.line == 3
    assert initialiser.condition is not None and initialiser.condition.line == 2
    assert not initialiser.chosen


@pytest.mark.parametrize(
    "line",
    [
        "module.bias.copy_(inverse(dt))",
        "nn.init.ones_(self.dt_bias)",
        "self.dt_bias = nn.Parameter(torch.ones(8))",
        "teacher.dt_bias.copy_(student.dt_bias)",
        "self.dt_bias.data = self.dt_bias.data - 0.1 * gradient",
        "self.dt_bias.copy_(torch.zeros(8))",
    ],
)
def test_lines_that_do_not(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, f"{line}\n") is None


def test_one_of_two_branches_is_a_choice(tmp_path: Path) -> None:
    text = "if kind == 'random':\n    self.dt_bias.normal_()\nelse:\n    self.dt_bias.fill_(1)\n"
    initialiser = found(tmp_path, text)
    assert initialiser is not None and initialiser.chosen
