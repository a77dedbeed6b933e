"""The tables of faults in public scripts go with their lists; the scripts themselves are not needed."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TABLES = [("faults.csv", "../strangers.txt"), ("faults_third.csv", "third.txt")]


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return [importlib.import_module(name) for name in ("strangers", "strangers_faults", "strangers_data")]


@pytest.mark.parametrize("table, names", TABLES)
def test_every_fault_has_its_script(modules, table, names):
    strangers, strangers_faults, _ = modules
    known = strangers.scripts(BENCHMARKS / "strangers" / names, "")
    found = strangers_faults.faults("", "all", BENCHMARKS / "strangers" / table)
    assert found
    for fault in found:
        assert any(script.name.startswith(fault.script) for script in known), fault.name
        assert fault.causes and fault.places, fault.name
        assert all(old != new for *_, old, new in fault.edits), fault.name


def test_the_lists_share_no_repository(modules):
    strangers = modules[0]
    lists = [
        BENCHMARKS / "strangers.txt",
        *(BENCHMARKS / "strangers" / name for name in ("second.txt", "third.txt")),
    ]
    repositories = [{script.repository for script in strangers.scripts(file, "")} for file in lists]
    assert not repositories[2] & (repositories[0] | repositories[1])


def test_data_that_needs_no_text_is_laid_without_it(modules, tmp_path):
    lay = modules[2].lay
    lay(tmp_path, tmp_path, "series:data/hours.csv")
    lay(tmp_path, tmp_path, "visits:visits.txt")
    header, first = (tmp_path / "data/hours.csv").read_text().splitlines()[:2]
    assert header.startswith("date,") and first.count(",") == header.count(",")
    assert all(len(line.split()) == 2 for line in (tmp_path / "visits.txt").read_text().splitlines())


def test_a_script_that_makes_its_data_sees_the_data_sets(modules, tmp_path):
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "done").touch()
    (tmp_path / "make.py").write_text(
        "import os\nopen('made.txt', 'w').write(os.environ['STRANGERS_DATA'])\n"
    )
    modules[2].lay(tmp_path, tmp_path, "run:make.py")
    assert (tmp_path / "made.txt").read_text() == str(tmp_path / ".data")


def test_told_edits_are_made_where_they_stand(modules, tmp_path):
    advice = importlib.import_module("strangers_advice")
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "train.py"
    file.write_text("a = 1\nrate = 5.0  # β\n", encoding="utf-8")
    place = {"file": "train.py", "line": 2, "column": 7, "end_line": 2, "end_column": 10, "text": "0.2"}
    assert advice.apply({"edits": [place]}, tmp_path / "sub", tmp_path)
    assert file.read_text(encoding="utf-8") == "a = 1\nrate = 0.2  # β\n"
    assert not advice.apply({"edits": [place | {"file": "../../train.py"}]}, tmp_path / "sub", tmp_path)
