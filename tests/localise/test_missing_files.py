"""A file that is not there is a missing checkpoint only where a model was to be loaded from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.diagnose.examples.networks import net_run
from netmend.localise.case import Case
from netmend.localise.causes.models import CheckpointNotLoaded
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Symptom


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("data = torch.load('traindata.pt')\nmodel.load_state_dict(state)\n", False),
        ("table = np.loadtxt('table.csv')\n", False),
        ("model.load_state_dict(torch.load('model.pt'))\n", True),
        ("state = torch.load('model.pt')\nmodel.load_state_dict(state)\n", True),
    ],
)
def test_only_what_a_model_takes_is_a_checkpoint(tmp_path: Path, text: str, told: bool) -> None:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    detail = {"exception": "FileNotFoundError: [Errno 2] No such file or directory: 'x'"}
    symptom = Symptom("D701", "It ended.", site=Site("train.py", 1), detail=detail)
    case = Case(net_run(), (symptom,), Sources(str(tmp_path), "train.py"))
    assert bool(list(CheckpointNotLoaded().accuse(case))) == told
