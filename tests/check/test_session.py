"""Many files: one process or several, comments across files, files that hang or break, nothing executed."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import netmend
from netmend.check import checker as checking
from netmend.check import session as sessions
from netmend.check.pool import Pool
from netmend.check.progress import Progress
from netmend.check.results import FileResult
from netmend.check.select import choose, known_rules
from netmend.check.session import CheckOptions, Session, check_paths
from netmend.errors import UsageError

BAD = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))
loss = nn.CrossEntropyLoss()(net(x), y)
"""
MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x).softmax(1)
"""
TRAIN = "import torch\nfrom model import Net\nloss = torch.nn.functional.cross_entropy(Net()(x), y)\n"
ONLY = CheckOptions(select=("S0", "S2"), cache=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")


def places(outcome: netmend.Outcome) -> list[tuple[str, int, str]]:
    return [(finding.file, finding.line, finding.code) for finding in outcome]


def test_findings_have_names_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(a=BAD)
    (tmp_path / "sub" / "b.py").write_text(BAD, encoding="utf-8")
    outcome = check_paths(["."], ONLY)
    assert places(outcome) == [("a.py", 4, "S201"), ("sub/b.py", 4, "S201")]
    assert (outcome.files, outcome.checked, outcome.problems) == (2, 2, ())
    assert outcome.source("a.py") == BAD
    os.chdir("sub")
    assert [finding.file for finding in check_paths([".", "../a.py"], ONLY)] == [
        str(tmp_path / "a.py"),
        "b.py",
    ]


def test_a_finding_in_a_followed_file_is_told_once(tmp_path: Path) -> None:
    write(model=MODEL, train=TRAIN, other=TRAIN)
    assert places(check_paths(["."], ONLY)) == [("model.py", 9, "S201")]
    assert places(check_paths(["train.py"], ONLY)) == [("model.py", 9, "S201")]
    excluding = CheckOptions(select=("S2",), cache=False, exclude=("model.py",), root=str(tmp_path))
    assert places(check_paths(["."], excluding)) == []
    off = CheckOptions(
        select=("S2",), cache=False, per_file_ignores={"model.py": ("S201",)}, root=str(tmp_path)
    )
    assert places(check_paths(["."], off)) == []


def test_a_comment_in_a_followed_file_counts_and_is_not_unused() -> None:
    write(model=MODEL.replace(".softmax(1)", ".softmax(1)  # netmend: ignore[S201]"), train=TRAIN)
    for paths in (["."], ["train.py"], ["model.py", "train.py"]):
        assert places(check_paths(paths, ONLY)) == []
    assert places(check_paths(["model.py"], ONLY)) == [("model.py", 9, "S001")]


def test_the_second_round_looks_only_into_what_changed(tmp_path: Path) -> None:
    write(model=MODEL, train=TRAIN, alone="import torch\n")
    for name in ("model", "train", "alone"):
        os.utime(f"{name}.py", (1, 1))
    options = CheckOptions(select=("S2",), cache_folder=tmp_path / "kept")
    assert check_paths(["."], options).cached == 0
    again = check_paths(["."], options)
    assert (again.cached, places(again)) == (3, [("model.py", 9, "S201")])
    write(model=MODEL.replace(".softmax(1)", ""))
    os.utime("model.py", (2, 2))
    third = check_paths(["."], options)
    assert (third.cached, places(third)) == (1, [])  # alone.py; train.py rests on model.py
    assert check_paths(["."], options).cached == 3


def test_a_full_hit_loads_no_rules(tmp_path: Path) -> None:
    write(a=BAD)
    options = CheckOptions(cache_folder=tmp_path / "kept")
    check_paths(["a.py"], options)
    session = Session(["a.py"], options)
    assert len(session.run()) == 1
    assert session._checker is None


def test_processes_give_the_same_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        **{f"file_{number}": BAD if number % 3 else TRAIN for number in range(12)},
        model=MODEL,
        broken="for in:\n",
    )
    one = check_paths(["."], CheckOptions(select=("S0", "S2"), cache=False, jobs=1))
    monkeypatch.setattr(sessions, "PROCESSES_FROM", 2)
    several = check_paths(["."], CheckOptions(select=("S0", "S2"), cache=False, jobs=3))
    assert several.findings == one.findings and several.problems == one.problems
    assert len(one) == 9 and one.files == 14


def test_a_process_that_dies_costs_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(**{f"file_{number}": BAD for number in range(6)}, deadly=BAD)
    spoil(monkeypatch, tmp_path, "os._exit(9)")
    results = in_pool([str(tmp_path / f"{name}.py") for name in ("file_0", "deadly", "file_1", "file_2")])
    assert results["deadly.py"].problem.startswith("could not be checked: the process died on it")
    assert all(len(results[f"file_{number}.py"].findings) == 1 for number in range(3))


def test_a_file_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(file_0=BAD, deadly=BAD, file_1=BAD)
    monkeypatch.setattr("netmend.check.pool._GRACE", 0.5)
    spoil(monkeypatch, tmp_path, "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); time.sleep(60)")
    started = time.monotonic()
    results = in_pool([str(tmp_path / f"{name}.py") for name in ("file_0", "deadly", "file_1")], seconds=2)
    assert time.monotonic() - started < 30
    assert results["deadly.py"].problem == "gave up after 2 seconds"
    assert len(results["file_1.py"].findings) == 1


def spoil(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str) -> None:
    """Processes load a module at their start that spoils the checking of deadly.py."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(
        textwrap.dedent(
            f"""
            import os, signal, time, netmend.check.checker as checker
            whole = checker.Checker.check
            def check(self, path):
                if path.endswith("deadly.py"):
                    {what}
                return whole(self, path)
            checker.Checker.check = check
            """
        ),
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hooks), str(Path(netmend.__file__).parent.parent)]))


def in_pool(files: list[str], seconds: float = 30) -> dict[str, FileResult]:
    results: dict[str, FileResult] = {}
    pool = Pool(1, choose(known_rules(), ["S2"]), seconds)
    assert pool.run(files, lambda file, result: results.__setitem__(Path(file).name, result)) == []
    return results


def test_without_processes_the_files_are_checked_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=BAD, b=BAD)
    monkeypatch.setattr(sessions, "PROCESSES_FROM", 2)
    monkeypatch.setattr(sys, "executable", str(Path("no-such-python").absolute()))
    assert len(check_paths(["."], CheckOptions(select=("S2",), cache=False, jobs=2))) == 2


def test_time_is_limited_in_this_process_too(monkeypatch: pytest.MonkeyPatch) -> None:
    write(a=BAD, b=BAD)
    whole = checking.check_text

    def slow(text: str, path: str, *more: object) -> object:
        deadline = time.monotonic() + 20
        while path.endswith("a.py") and time.monotonic() < deadline:
            with contextlib.suppress(Exception):  # as a rule that guards itself would
                time.sleep(0.01)
        return whole(text, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "check_text", slow)
    outcome = check_paths(["."], CheckOptions(select=("S2",), cache=False, seconds=0.3))
    assert outcome.problems == (("a.py", "gave up after 0.3 seconds"),)
    assert places(outcome) == [("b.py", 4, "S201")]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + ")" * 5000, "x = " + "+".join(["y"] * 20_000), "x = " + "-" * 50_000 + "1", "[" * 90 + "]" * 90,
        "if a: pass\n" + "elif a: pass\n" * 3000, "x" + ".y" * 20_000, "f" + "(1)" * 20_000, "x = " + "not " * 20_000 + "y",
        "\n".join(" " * depth + "if x:" for depth in range(99)) + "\n" + " " * 99 + "pass",
        "import torch\nloss = torch.nn.CrossEntropyLoss()(" + "f(" * 150 + "x" + ")" * 150 + ", y)",
        "lambda: " * 5000 + "1", "x = " + "a if b else " * 5000 + "c", "@a\n" * 5000 + "def f(): pass",
    ],
)  # fmt: skip
def test_deep_nesting_is_survived(text: str) -> None:
    write(deep=text, other=BAD)
    outcome = check_paths(["."], CheckOptions(cache=False, select=("S2",)))
    assert places(outcome) == [("other.py", 4, "S201")] or "deep.py" in dict(outcome.problems)
    assert ("other.py", 4, "S201") in places(outcome)
    assert all("\n" not in problem for _, problem in outcome.problems)


def test_fifty_thousand_lines() -> None:
    body = "".join(
        f"value_{number} = [number * {number} for number in range({number})]\n" for number in range(50_000)
    )
    write(large=BAD + body)
    outcome = check_paths(["large.py"], CheckOptions(cache=False, select=("S2",)))
    assert places(outcome) == [("large.py", 4, "S201")] and outcome.problems == ()


def test_nothing_is_imported_or_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    trap = f"open({str(mark)!r}, 'w').close()\n"
    for name in ("model", "ast", "typing", "sitecustomize", "conftest", "netmend", "tokenize", "json"):
        write(**{name: trap + MODEL})
    write(train=trap + TRAIN.replace("import torch\n", "import torch, ast, tokenize, typing\n"))
    outcome = check_paths(["."], ONLY)
    assert ("model.py", 10, "S201") in places(outcome)
    assert not mark.exists()
    assert "model" not in sys.modules


def test_nothing_to_look_at_and_empty_files() -> None:
    Path("folder").mkdir()
    assert check_paths(["folder"], ONLY).files == 0
    write(empty="", blank="\n\n", comment="# nothing")
    outcome = check_paths(["."], ONLY)
    assert (outcome.files, outcome.findings, outcome.problems) == (3, (), ())


def test_a_wrong_choice_is_told_before_anything_is_looked_at() -> None:
    write(a=BAD)
    with pytest.raises(UsageError, match="there is no rule 'S299'"):
        check_paths(["."], CheckOptions(select=("S299",), cache=False))


def test_warnings_about_the_checked_text_are_not_ours_to_show(recwarn: pytest.WarningsRecorder) -> None:
    write(a="x = '\\d'\nassert (x, 'always true')\nx is 1\n")
    check_paths(["a.py"], ONLY)
    assert not recwarn.list


def test_progress_is_shown_on_a_terminal_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(Progress, "AFTER", 0.0)
    write(a=BAD, b=BAD)
    terminal, file = Terminal(), io.StringIO()
    Session(["."], ONLY, Progress(terminal)).run()
    Session(["."], ONLY, Progress(file)).run()
    assert "checking: 1 of 2 files" in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")
    assert file.getvalue() == ""


def test_the_call_in_code() -> None:
    write(a=BAD)
    outcome = netmend.check("a.py", select="S2")
    assert [finding.code for finding in outcome] == ["S201"] and len(outcome) == 1 and outcome
    assert "a.py:4" in str(outcome) and '"S201"' in outcome.json()
    assert not netmend.check(Path("a.py"), ignore=["S2", "S1"])
    Path("pyproject.toml").write_text('[tool.netmend.check]\nignore = ["S201"]\n', encoding="utf-8")
    assert not netmend.check(".", select="S2")


def test_a_mistake_in_an_imported_file_has_its_fix(folder: Path) -> None:
    from netmend.check.rules.loss_maximised import SURROGATE

    (folder / "ppo.py").write_text(
        SURROGATE.format("ratios", "torch.min(surr1, surr2).mean()"), encoding="utf-8"
    )
    (folder / "main.py").write_text("from ppo import PPO\n\nPPO(world).learn(a, b, c, d)\n", encoding="utf-8")
    options = CheckOptions(select=("S217",), cache=False)
    (found,) = check_paths(["main.py"], options).findings
    assert found.file == "ppo.py" and found.fix is not None
    assert [(edit.line, edit.text) for edit in found.fix.edits] == [(found.line, "-")]
