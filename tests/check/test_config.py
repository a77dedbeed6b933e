"""[tool.netmend]: found above what is checked, read strictly, with a hint for what is misspelled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from netmend.config import CheckSettings, project_root, read_check_settings
from netmend.errors import UsageError

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="the standard library reads TOML since 3.11"
)


def configure(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def test_every_key(tmp_path: Path) -> None:
    configure(
        tmp_path,
        """
        [tool.netmend.check]
        select = ["S1", "S2"]
        ignore = ["S203"]
        extend-select = ["S401"]
        exclude = ["generated"]
        baseline = "known.json"
        [tool.netmend.check.per-file-ignores]
        "tests/*" = ["S5"]
        """,
    )
    assert read_check_settings(tmp_path / "src" / "train.py") == CheckSettings(
        ("S1", "S2"),
        ("S203",),
        ("S401",),
        ("generated",),
        tmp_path / "known.json",
        {"tests/*": ("S5",)},
        tmp_path / "pyproject.toml",
    )


def test_keys_may_stand_in_the_table_above(tmp_path: Path) -> None:
    configure(
        tmp_path,
        '[tool.netmend]\nselect = ["S1"]\nignore = ["S101"]\n[tool.netmend.check]\nselect = ["S2"]\n',
    )
    settings = read_check_settings(tmp_path)
    assert (settings.select, settings.ignore) == (("S2",), ("S101",))


def test_the_nearest_file_with_our_table_counts(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.netmend]\nselect = ["S1"]\n')
    configure(tmp_path / "inner", "[project]\nname = 'x'\n")
    configure(tmp_path / "other", '[tool.netmend]\nselect = ["S2"]\n')
    assert read_check_settings(tmp_path / "inner" / "a.py").select == ("S1",)
    assert read_check_settings(tmp_path / "other").select == ("S2",)
    assert project_root(tmp_path / "inner" / "deep" / "a.py") == tmp_path / "inner"


def test_nothing_configured(tmp_path: Path) -> None:
    configure(tmp_path, "[project]\nname = 'netmend-user'\n")
    assert read_check_settings(tmp_path).select == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "[tool.netmend.check]\nselct = []",
            "tool.netmend.check.selct is not a setting; did you mean select?",
        ),
        (
            "[tool.netmend]\nper_file_ignores = {}",
            "tool.netmend.per_file_ignores is not a setting; did you mean per-file",
        ),
        (
            "[tool.netmend]\nzzz = 1",
            "there are select, ignore, extend-select, exclude, baseline, per-file-ignores",
        ),
        (
            "[tool.netmend]\nselect = 'S1'",
            "tool.netmend.select must be a list of texts such as [\"S2\"], got 'S1'",
        ),
        ("[tool.netmend]\nselect = [1]", 'must be a list of texts such as ["S2"], got [1]'),
        ("[tool.netmend]\nbaseline = 3", "tool.netmend.baseline must be the name of a file, got 3"),
        ("[tool.netmend]\nper-file-ignores = []", "must be a table"),
        ('[tool.netmend]\nper-file-ignores = {"a" = "S1"}', "must be a list of texts"),
        ("[tool]\nnetmend = 3", "tool.netmend must be a table, got 3"),
        ("[tool.netmend]\ncheck = 3", "tool.netmend.check must be a table, got 3"),
        ("[tool.netmend\n", "is not valid TOML"),
    ],
)
def test_mistakes_are_said_with_the_file_and_the_value(tmp_path: Path, text: str, complaint: str) -> None:
    configure(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        read_check_settings(tmp_path)
    assert complaint in str(raised.value) and str(tmp_path / "pyproject.toml") in str(raised.value)


def test_the_root_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path)
    assert project_root(tmp_path / "repository" / "a" / "b.py") == tmp_path / "repository"
    assert project_root(tmp_path / "plain") in (tmp_path, *tmp_path.parents)
