"""The whole benchmark on two small projects: searched, kept, ranked, shown; and the exported trees."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.commands.locate import bench_locate
from bench.locate.dating import dated
from bench.locate.denchmark import Change, Report, read_reports
from bench.locate.exporting import export
from bench.locate.histories import find_histories
from bench.locate.learning import FREE, USED, Example, Settings, fit, folds, project_weights
from bench.locate.measuring import Desk
from bench.locate.protocol import Protocol
from bench.locate.searching import search
from netmend.errors import UsageError
from netmend.locate.features import FEATURE_NAMES, Features
from netmend.locate.fusion import read_trees

DAY = 86_400
START = 1_577_836_800  # 2020-01-01
FILES = {
    "pkg/losses.py": "class FocalLoss:\n    def weigh(self, logits):\n        return logits\n",
    "pkg/plots.py": "def draw_axis(figure):\n    return figure\n",
    "pkg/loader.py": "def read_batches(folder):\n    raise OSError('no batches in folder')\n",
    "tests/test_losses.py": "def test_focal_loss():\n    pass\n",
}


def git(folder: Path, *arguments: str, at: int = START) -> str:
    when = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    who = {f"GIT_{role}_{what}": "x@x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **when, **who},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def project(folder: Path) -> tuple[str, str]:
    """A clone with two commits; their hashes."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First version")
    first = git(folder, "rev-parse", "HEAD")
    (folder / "pkg/losses.py").write_text(
        FILES["pkg/losses.py"] + "\n\ndef mean(values):\n    return values\n"
    )
    git(folder, "commit", "-q", "-a", "-m", "Add mean of losses", at=START + 5 * DAY)
    return first, git(folder, "rev-parse", "HEAD")


def report(name: str, number: int, commit: str, title: str, fixed: str) -> dict[str, object]:
    return {
        "id": f"{name}#{number}",
        "project": name,
        "category": "Tool",
        "title": title,
        "description": "It goes wrong every time.",
        "opened": f"2020-01-{9 + number:02}T00:00:00Z",
        "closed": f"2020-01-{9 + number:02}T10:00:00Z",
        "fix_time": f"2020-01-{9 + number:02}T09:00:00Z",
        "fix_commit": commit,
        "fix_parent": commit,
        "snapshot_at_open": commit,
        "py_changes": [{"path": fixed, "change": "MODIFY", "test": False}],
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of reports, and the folder of histories; one project has another owner by now, one is missing."""
    root = tmp_path_factory.mktemp("world")
    _, first = project(root / "git" / "New-Owner+Vision" / "repo")
    _, second = project(root / "git" / "team" / "text")
    rows = [
        report("old+vision", 1, first, "FocalLoss ignores its weights", "pkg/losses.py"),
        report("old+vision", 2, first, "draw_axis leaves the figure empty", "pkg/plots.py"),
        report("team+text", 1, second, "read_batches fails on an empty folder", "pkg/loader.py"),
        report("team+text", 2, second, "FocalLoss is NaN", "pkg/losses.py"),
        report("gone+away", 1, "a" * 40, "Nothing", "x.py"),
    ]
    file = root / "reports.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file, root / "git"


def test_histories_are_found_by_name_and_by_their_commits(world: tuple[Path, Path]) -> None:
    reports = read_reports(world[0])
    found = find_histories(world[1], reports)
    assert found.folders == {
        "old+vision": world[1] / "New-Owner+Vision/repo/.git",
        "team+text": world[1] / "team/text/.git",
    }
    assert found.missing == ("gone+away",)
    strange = replace(reports[-1], id="team+text#9", snapshot="b" * 40)
    assert find_histories(world[1], [*reports, strange]).lacking == {"team+text": 1}


def test_history_under_another_name_is_found_by_its_commits(world: tuple[Path, Path], tmp_path: Path) -> None:
    mine = [one for one in read_reports(world[0]) if one.project == "team+text"]
    project(tmp_path / "someone" / "renamed")
    (tmp_path / "someone" / "empty").mkdir()
    git(tmp_path / "someone" / "empty", "init", "-q")
    assert find_histories(tmp_path, mine).folders == {"team+text": tmp_path / "someone/renamed/.git"}


def test_commits_that_the_collection_does_not_name_are_asked_of_the_history(tmp_path: Path) -> None:
    first, second = project(tmp_path / "clone")
    (tmp_path / "clone/pkg/plots.py").write_text("def draw_axis(figure):\n    return None\n")
    git(tmp_path / "clone", "commit", "-q", "-a", "-m", "Fix the axis", at=START + 20 * DAY)
    fix = git(tmp_path / "clone", "rev-parse", "HEAD")
    file = tmp_path / "reports.jsonl"
    bare = {
        **report("team+text", 1, fix, "draw_axis", "pkg/plots.py"),
        "fix_parent": None,
        "snapshot_at_open": None,
    }
    file.write_text(json.dumps(bare), encoding="utf-8")
    (one,) = read_reports(file)
    folders = {"team+text": tmp_path / "clone/.git"}
    (late,) = dated([one], folders)
    assert (late.fix_parent, late.snapshot) == (second, second)
    (early,) = dated([replace(one, opened=START + 3 * DAY)], folders)
    assert (early.fix_parent, early.snapshot) == (second, first)
    assert dated([replace(one, opened=START - DAY)], folders) == ()  # nothing to search yet
    assert dated([replace(one, fix_commit="c" * 40)], folders) == ()
    assert dated([one], {}) == ()
    given = replace(one, snapshot="a" * 40, fix_parent="b" * 40)
    assert dated([given], folders) == (given,)


def test_command_ranks_keeps_and_goes_on(
    world: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "result.json"
    arguments = (world[0], world[1], "src", "open", None, "", False, 1, out, tmp_path / "work", True)
    assert bench_locate(*arguments) == 0
    shown = capsys.readouterr().out
    assert "netmend, fixed weights" in shown
    assert "gone+away" in shown
    data = json.loads(out.read_text())
    assert (data["projects"], data["reports"]) == (2, 4)
    assert data["ranks"]["netmend, fixed weights"]["team+text#1"] == [3, 1, 1]
    assert data["figures"]["all"]["all reports"]["BM25"]["ap"]["mean"] > 0.5
    monkeypatch.setattr("bench.locate.searching.measure", None)  # measuring again would fail
    assert bench_locate(*arguments) == 0
    assert json.loads(out.read_text()) == data


def test_tests_are_candidates_only_where_asked_and_nothing_after_the_report_is_known(
    world: tuple[Path, Path], tmp_path: Path
) -> None:
    (first,) = [one for one in read_reports(world[0]) if one.id == "team+text#1"]
    found = find_histories(world[1], [first]).folders
    early = replace(first, opened=START + DAY)  # before the second commit
    tested = replace(first, changes=(*first.changes, Change("tests/test_losses.py", "MODIFY", True)))
    sheets = {}
    for name, one, protocol in (("early", early, "src"), ("late", first, "src"), ("all", tested, "all")):
        desk = Desk(tmp_path / name, Protocol(protocol))
        told: list[tuple[Report, str, bool]] = []
        search([one], [one], found, desk, 1, lambda *what, told=told: told.append(what))
        assert [(problem, known) for _, problem, known in told] == [("", False)]
        sheets[name] = desk.read(one)
    assert sheets["late"].paths == ("pkg/loader.py", "pkg/losses.py", "pkg/plots.py")
    assert sheets["all"].paths == (*sheets["late"].paths, "tests/test_losses.py")
    row = sheets["late"].paths.index("pkg/losses.py")
    churn = [sheets[name].feature("churn")[row] for name in ("early", "late")]
    others = [sheets[name].feature("churn")[0] for name in ("early", "late")]
    assert churn[0] == others[0]  # one commit touched every file
    assert churn[1] > others[1]


def test_unknown_project_is_named(world: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean team\+text"):
        bench_locate(world[0], world[1], "src", "open", None, "team+tex", False, 1, None, tmp_path, True)
    with pytest.raises(UsageError, match="no clone of a project"):
        bench_locate(world[0], tmp_path, "src", "open", None, "", False, 1, None, tmp_path, True)


def made_examples() -> list[Example]:
    random = np.random.default_rng(3)
    found = []
    for number in range(24):
        rows = random.random((20, len(USED))).astype(np.float32)
        fixed = np.zeros(20, bool)
        fixed[np.argmax(rows[:, 2] + 0.2 * rows[:, 5])] = True
        found.append(Example(f"p{number % 4}#{number}", f"p{number % 4}", rows, fixed, rows[:, 0]))
    return found


def test_exported_trees_give_the_scores_of_lightgbm(tmp_path: Path) -> None:
    examples = made_examples()
    model = fit(examples, Settings(trees=12, leaves=7, smallest=10, columns=1.0))
    export(model, USED, tmp_path / "model.json", {"reports": 24})
    fusion = read_trees(tmp_path / "model.json")
    hits = 0
    for example in examples:
        expected = model.predict(example.rows)
        table = np.zeros((len(example.rows), len(FEATURE_NAMES)))
        table[:, [FEATURE_NAMES.index(name) for name in USED]] = example.rows
        ours = fusion.rank(Features(FEATURE_NAMES, table))
        assert ours == pytest.approx(expected, abs=1e-5)
        hits += int(example.fixed[np.argmax(ours)])
    assert hits > 12  # by chance: one or two


def test_more_evidence_never_lowers_a_score() -> None:
    examples = made_examples()
    model = fit(examples, Settings(trees=12, leaves=7, smallest=10, columns=1.0))
    rows = examples[0].rows
    for number, name in enumerate(USED):
        more = rows.copy()
        more[:, number] = 1.0
        if name not in FREE:
            assert (model.predict(more) >= model.predict(rows) - 1e-9).all(), name
    assert set(USED) > FREE


def test_projects_are_never_split() -> None:
    parts = folds({"a": 50, "b": 30, "c": 25, "d": 5}, 3)
    assert sorted(sum(({"a": 50, "b": 30, "c": 25, "d": 5}[p] for p in part), 0) for part in parts) == [
        30,
        30,
        50,
    ]
    assert sorted(project for part in parts for project in part) == ["a", "b", "c", "d"]
    assert len(folds({"a": 1, "b": 1}, 10)) == 2


def test_large_projects_weigh_less_per_report() -> None:
    few, many = (
        Example("x", name, np.zeros((1, 1), np.float32), np.ones(1, bool), np.zeros(1)) for name in "ab"
    )
    weights = project_weights([few, *[many] * 4])
    assert weights[0] == pytest.approx(2 * weights[1])
    assert weights.mean() == pytest.approx(1.0)
