"""Commands in a folder that cannot be written keep their work in a temporary one, say so, and find it again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from netmend.cli import main
from netmend.cli.options import work_folder
from netmend.store import RunWriter, find_run, list_runs, runs_root
from netmend.store.places import spare, usable, writable
from netmend.vocabulary import RunFact


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file stands where `.netmend` should be: as good as read-only, also for a superuser."""
    here = tmp_path / "here"
    here.mkdir()
    (here / ".netmend").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv("NETMEND_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return here


def test_what_cannot_be_written_has_a_stand_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not writable(folder / ".netmend")
    assert usable(folder / ".netmend")[0] == spare(folder / ".netmend") == work_folder(None)
    assert "is not writable; what is worked out is kept in" in capsys.readouterr().err
    assert work_folder(None, quiet=True) and not capsys.readouterr().err
    assert usable(folder / "new" / "below") == (folder / "new" / "below", "")
    assert not (folder / "new").exists()


def test_runs_that_were_kept_elsewhere_are_found(folder: Path) -> None:
    root = runs_root()
    RunWriter.create(spare(root) / "2026-01-01-000000-abc", RunFact("2026-01-01-000000-abc", "x.py")).close()
    assert [info.id for info in list_runs(root)] == ["2026-01-01-000000-abc"]
    assert find_run(root, "last") == find_run(root, "2026") == spare(root) / "2026-01-01-000000-abc"


@pytest.mark.parametrize("command", ["repair", "neutral", "mutate"])
def test_a_search_in_a_read_only_folder_is_a_line_not_a_traceback(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(SystemExit):
        main([command, "-j", "1", "train.py"])
    told = capsys.readouterr().err
    assert "netmend: warning:" in told and "is not writable" in told and "Traceback" not in told


def test_a_run_says_where_it_was_saved(folder: Path, tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    (folder / "train.py").write_text("import torch\n")
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "COLUMNS": "200"}

    def netmend(*words: str) -> str:
        command = [sys.executable, "-m", "netmend", *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=folder, check=True
        ).stderr

    told = netmend("run", "train.py")
    assert (
        "warning" in told and "is not writable" in told and "run saved in" in told and "not seen" not in told
    )
    netmend("show", "last")
