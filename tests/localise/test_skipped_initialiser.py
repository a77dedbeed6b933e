"""Lines that would have filled a parameter, and whether they are one of several ways to choose from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.detectors.initialisers import ConstantParameters
from netmend.localise.case import Case
from netmend.localise.causes.initial_weights import CallMissing
from netmend.localise.lines.initialisers import Held, initialiser_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import ProbeFact


def found(tmp_path: Path, text: str):
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")
    return initialiser_of(Sources(str(tmp_path), "train.py"), "train.py", Held("dt_bias"))


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


GUARDED = """\
class LayerNorm(nn.Module):
    pass

class GPT(nn.Module):
    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, Scale)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        {}
"""


@pytest.mark.parametrize(
    ("line", "held", "line_found"),
    [
        ("pass", Held("weight", "LayerNorm", "model.ln"), None),  # both initialisers are for other classes
        ("pass", Held("weight", "Scale", "model.scale"), 7),
        ("nn.init.normal_(self.weight)", Held("weight", "LayerNorm", "model.ln"), None),  # that of a GPT
        ("nn.init.normal_(self.weight)", Held("weight", "GPT", "model"), 10),
        ("nn.init.normal_(self.head.weight)", Held("weight", "LayerNorm", "model.ln"), None),
        ("nn.init.normal_(self.head.weight)", Held("weight", "Head", "model.head"), 10),
        ("nn.init.normal_(self.blocks[0].mix.weight)", Held("weight", "Mix", "model.blocks.0.mix"), 10),
    ],
)
def test_an_initialiser_belongs_to_its_module(
    tmp_path: Path, line: str, held: Held, line_found: int | None
) -> None:
    (tmp_path / "train.py").write_text(GUARDED.format(line), encoding="utf-8")
    initialiser = initialiser_of(Sources(str(tmp_path), "train.py"), "train.py", held)
    assert (initialiser and initialiser.site.line) == line_found


def test_a_line_that_has_run_was_not_skipped(tmp_path: Path) -> None:
    found(tmp_path, "for m in net.modules():\n    if m.kind:\n        nn.init.normal_(m.dt_bias)\n")
    trace = ConstantParameters.FAULTY[0].trace
    ran = ProbeFact("initialisers", "initialisers", values={"lines": ["train.py:3"]})
    seen = replace(trace, facts={**trace.facts, "probe": {ran.name: ran}})
    for given, expected in ((trace, 1), (seen, 0)):
        symptoms = tuple(ConstantParameters().examine(given))
        case = Case(given, symptoms, Sources(str(tmp_path), "train.py"))
        assert len(list(CallMissing().accuse(case))) == expected
