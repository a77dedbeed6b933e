"""A look at a trained model in its own process: what is called when, what is kept, what a failure costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from trying import TINY, Project

from netmend.launch.run import Finished
from netmend.mutate.examined import Examined
from netmend.mutate.test_sets import test_sets as named_sets
from netmend.trials.examination import examiner_of
from netmend.trials.trial import FAILED, Target, Trial

MODULE = "netmend.adapters.torch.subject.examination"


@pytest.fixture
def notes() -> list[str]:
    return []


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "looking_at_models.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "looking_at_models", raising=False)


def test_begin_and_end_are_called_with_options_and_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: list[str]
) -> None:
    written(
        tmp_path,
        monkeypatch,
        "def begin(options, folder):\n    (folder / 'begun').write_text(options)\n"
        "def end(options, finished):\n    (finished.folder / 'ended').write_text(options + finished.names['x'])\n",
    )
    examiner = examiner_of(("looking_at_models", "how"), tmp_path, notes.append)
    examiner.begin()
    examiner.end(Finished(tmp_path, tmp_path, {"x": "!"}, None))
    assert (tmp_path / "begun").read_text() == "how" and (tmp_path / "ended").read_text() == "how!"
    assert notes == []


def test_a_failure_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: list[str]) -> None:
    written(tmp_path, monkeypatch, "def begin(options, folder):\n    raise ValueError('no such thing')\n")
    examiner_of(("looking_at_models", ""), tmp_path, notes.append).begin()
    examiner_of(("no_such_module_anywhere", ""), tmp_path, notes.append).begin()
    assert notes[0] == "the examination failed: ValueError: no such thing"
    assert "ModuleNotFoundError" in notes[1]


def test_no_examination_calls_nothing_and_keeps_the_key(tmp_path: Path, notes: list[str]) -> None:
    examiner_of(("", ""), tmp_path, notes.append).begin()
    assert notes == []
    plain = Trial(Target("train.py"))
    assert plain.key("f") == replace(plain, examination=("", "ignored")).key("f")
    looked_at = {replace(plain, examination=(MODULE, how)).key("f") for how in ("a", "b")}
    assert len(looked_at | {plain.key("f")}) == 3


def test_the_trained_model_is_examined_in_its_process(project: Project) -> None:
    tests = [each.as_data() for each in named_sets(("x,y",), str(project.folder))]
    examination = (MODULE, json.dumps({"tests": tests}))
    outcome = project.tried(TINY, examination=examination)
    assert outcome.ran and outcome.notes == ()
    trial = Trial(Target("train.py", (), False, str(project.folder)), examination=examination)
    examined = Examined.read(project.runner().place(trial))
    assert examined is not None and set(examined.sets) == {"x", "training data"}
    last = float(outcome.output.strip().splitlines()[-1].split()[-1])
    # The program tells its accuracy after the last step: the model that was examined is that one.
    assert examined.score("x") == pytest.approx(last, abs=1e-4)


def test_a_program_that_fails_is_not_examined(project: Project) -> None:
    outcome = project.tried(
        TINY + "raise RuntimeError('late')\n", examination=(MODULE, json.dumps({"tests": []}))
    )
    assert outcome.status == FAILED and "late" in outcome.exception
    assert not any("examination" in note for note in outcome.notes)
