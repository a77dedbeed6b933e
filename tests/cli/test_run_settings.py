"""[tool.netmend.run] of pyproject.toml: defaults of `netmend run`, with a suggestion for what is mistyped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import netmend.cli.run
from netmend.cli import main
from netmend.config import read_check_settings, read_run_settings
from netmend.errors import UsageError

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML is read from Python 3.11 on")


def write(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.netmend.run]\n{text}\n")


def test_options_on_the_command_line_count_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'overhead = "3%"\nexit-on-fault = true\nevery = 5\ndirectory = "kept"')
    (tmp_path / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []
    monkeypatch.setattr(
        netmend.cli.run, "prepare_run", lambda *given: asked.append(given[2]) or (lambda: None)
    )
    main(["run", "--overhead", "2%", "train.py"])
    assert asked[0].overhead == "2%" and asked[0].exit_on_fault is True
    assert asked[0].every == "5" and asked[0].directory == tmp_path / "kept"
    assert read_check_settings(tmp_path).select == ()  # the table of another command is no mistake


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("overhed = '1%'", "did you mean overhead"),
        ("full = 'yes'", "must be true or false"),
        ("every = '5'", "whole number"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, text)
    with pytest.raises(UsageError, match=words):
        read_run_settings(tmp_path)
