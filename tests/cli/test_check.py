"""`netmend check` as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_server import Ended, netmend

BAD = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))  # the scores
loss = nn.CrossEntropyLoss()(net(x), y)
"""
GOOD = BAD.replace(", nn.Softmax(1)", "")
UNUSED = "import torch\nx = 1  # netmend: ignore[S201]\n"


def start(folder: Path, *arguments: str, **more: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-m", "netmend", "check", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **{"text": True, "encoding": "utf-8", **more},
    )


def check(folder: Path, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    process = start(folder, *arguments)
    out, err = process.communicate(given, timeout=120)
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def found(ended: subprocess.CompletedProcess[str]) -> list[tuple[str, int, str]]:
    return [(one["file"], one["line"], one["code"]) for one in json.loads(ended.stdout)["findings"]]


def test_a_finding(tmp_path: Path) -> None:
    write(tmp_path, train=BAD, good=GOOD)
    ended = check(tmp_path)
    assert ended.returncode == 1 and ended.stderr == ""
    assert "train.py:4:38: S201" in ended.stdout and "good.py" not in ended.stdout
    assert (tmp_path / ".netmend" / "cache").is_dir()
    assert check(tmp_path).stdout == ended.stdout  # from the cache
    assert check(tmp_path, "--no-cache", "train.py").returncode == 1


def test_nothing_found(tmp_path: Path) -> None:
    write(tmp_path, good=GOOD, empty="")
    ended = check(tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "") and "2 files" in ended.stdout
    quiet = check(tmp_path, "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_files_that_cannot_be_checked_are_said_and_the_others_checked(tmp_path: Path) -> None:
    write(tmp_path, good=GOOD, syntax="x = 1\nfor in:\n", null="x\0")
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    (tmp_path / "round.py").symlink_to("round.py")
    (tmp_path / "odd.ipynb").write_text("{", encoding="utf-8")
    ended = check(tmp_path)
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "latin.py",
        "null.py",
        "odd.ipynb",
        "round.py",
        "syntax.py",
    ]
    assert "netmend: syntax.py: line 2: invalid syntax" in lines
    assert "netmend: null.py: line 1: holds a null byte; is it a text file?" in lines
    assert check(tmp_path, "syntax.py", "null.py").returncode == 2  # nothing could be checked
    assert check(tmp_path, "--exit-zero").returncode == 0


def test_json_carries_findings_of_notebooks_with_their_cells(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text(notebook("%matplotlib inline\nimport torch", BAD), encoding="utf-8")
    ended = check(tmp_path, "--format", "json")
    data = json.loads(ended.stdout)
    (one,) = data["findings"]
    assert data["schema"] == 1 and (one["code"], one["file"], one["cell"], one["line"]) == (
        "S201",
        "n.ipynb",
        2,
        4,
    )


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab"])
def test_every_form_can_go_to_a_file(tmp_path: Path, form: str) -> None:
    write(tmp_path, train=BAD)
    ended = check(tmp_path, "--format", form, "-o", "out")
    assert ended.returncode == 1 and ended.stdout == ""
    assert "S201" in (tmp_path / "out").read_text(encoding="utf-8")


def test_statistics(tmp_path: Path) -> None:
    write(tmp_path, a=BAD, b=BAD)
    ended = check(tmp_path, "--statistics")
    assert ended.returncode == 1 and "S201" in ended.stdout and "a.py" not in ended.stdout


def test_preview_rules(tmp_path: Path) -> None:
    write(tmp_path, train="import torch\n\ntorch.no_grad()\n")  # S714
    assert check(tmp_path).returncode == 0
    assert check(tmp_path, "--preview").returncode == 1


def test_choosing_rules_and_the_configuration(tmp_path: Path) -> None:
    write(tmp_path, train=BAD)
    assert check(tmp_path, "--ignore", "S2").returncode == 0
    assert check(tmp_path, "--select", "loop,S0").returncode == 0
    assert check(tmp_path, "--select=LYR-SOFTMAX-EXTRA").returncode == 1
    (tmp_path / "pyproject.toml").write_text('[tool.netmend.check]\nignore = ["S201"]\n', encoding="utf-8")
    assert check(tmp_path).returncode == 0
    assert check(tmp_path, "--extend-select", "S201").returncode == 0  # equally specific: left out
    (tmp_path / "pyproject.toml").write_text(
        '[tool.netmend.check]\nexclude = ["train.py"]\n', encoding="utf-8"
    )
    assert check(tmp_path).returncode == 2  # nothing is left to check
    assert check(tmp_path, "train.py").returncode == 1
    (tmp_path / "pyproject.toml").write_text(
        '[tool.netmend.check.per-file-ignores]\n"tr*.py" = ["S201"]\n', encoding="utf-8"
    )
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("gone.py",), "gone.py does not exist; give files, folders, or - for standard input"),
        (("--select", "S2O1"), "there is no rule 'S2O1'; did you mean S201?"),
        (("--ignore", "lop"), "there is no rule 'lop'; did you mean loop?"),
        (("--selct", "S2"), "there is no option --selct; did you mean --select? Try: netmend check --help"),
        (
            ("--format", "xml"),
            "--format must be one of text, concise, json, sarif, github, gitlab, got 'xml'",
        ),
        (("--jobs", "0"), "--jobs must be 1 or more, got 0"),
        (("--jobs", "many"), "many"),
        (("--fix", "--diff"), "--fix changes files and --diff only shows the changes; use one of them"),
        (("-", "train.py"), "- means standard input"),
        (("--stdin-filename", "x.py"), "--stdin-filename is for standard input"),
        (("empty",), "there are no .py or .ipynb files in empty"),
        (("--baseline", "none.json"), "none.json"),
        (("-o", "gone/out"), "gone/out cannot be written: No such file or directory"),
        (("--watch", "--fix"), "--watch only checks"),
    ],
)
def test_wrong_use_gets_a_clear_line(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    write(tmp_path, train=BAD)
    (tmp_path / "empty").mkdir()
    ended = check(tmp_path, *arguments)
    assert ended.returncode == 2 and complaint in ended.stderr
    assert len(ended.stderr.splitlines()) == 1 and ended.stderr.startswith("netmend: ")


def test_standard_input(tmp_path: Path) -> None:
    ended = check(tmp_path, "-", given=BAD)
    assert ended.returncode == 1 and "<stdin>:4:38: S201" in ended.stdout and "nn.Softmax(1)" in ended.stdout
    assert check(tmp_path, "-", given=GOOD).returncode == 0
    assert check(tmp_path, "-", given="").returncode == 0
    broken = check(tmp_path, "-", given="for in:\n")
    assert broken.returncode == 2 and "netmend: <stdin>: line 1: invalid syntax" in broken.stderr
    cells = check(
        tmp_path, "--stdin-filename", "n.ipynb", "-", "--format", "json", given=notebook("x = 1", BAD)
    )
    assert found(cells) == [("n.ipynb", 4, "S201")]


def test_a_notebook_on_standard_input_is_checked_as_one(tmp_path: Path) -> None:
    text = notebook("x = 1", BAD)
    ended = check(tmp_path, "-", given=text)
    assert ended.returncode == 1 and "<stdin>.ipynb:cell 2:4:38: S201" in ended.stdout
    assert found(check(tmp_path, "--stdin-filename", "a.py", "-", "--format", "json", given=text)) == [
        ("a.py.ipynb", 4, "S201")
    ]
    assert "nn.Softmax" not in check(tmp_path, "-", "--fix", "--unsafe-fixes", given=text).stdout


def test_standard_input_mended_goes_to_standard_output(tmp_path: Path) -> None:
    ended = check(tmp_path, "-", "--fix", "--unsafe-fixes", given=BAD)
    assert (ended.returncode, ended.stdout) == (0, GOOD)
    assert check(tmp_path, "-", "--fix", given="for in:\n").stdout == "for in:\n"
    assert check(tmp_path, "-", "--diff", "--unsafe-fixes", given=BAD).stdout.count("\n-") == 1


def test_fixing(tmp_path: Path) -> None:
    write(tmp_path, unused=UNUSED, train=BAD)
    ended = check(tmp_path, "--fix", "--show-fixes")
    assert ended.returncode == 1  # the softmax is left: its fix is not safe
    assert (tmp_path / "unused.py").read_text(encoding="utf-8") == "import torch\nx = 1\n"
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == BAD
    assert "unused.py:2: S001 fixed: Remove what silences nothing" in ended.stdout
    ended = check(tmp_path, "--fix", "--unsafe-fixes")
    assert ended.returncode == 0
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == GOOD
    assert check(tmp_path, "--fix", "--unsafe-fixes").returncode == 0


def test_fixing_keeps_encodings_line_ends_and_notebooks(tmp_path: Path) -> None:
    declared = "# coding: latin-1\r\n" + BAD.replace("the scores", "Übung").replace("\n", "\r\n")
    (tmp_path / "latin.py").write_bytes(declared.encode("latin-1"))
    (tmp_path / "marked.py").write_bytes(b"\xef\xbb\xbf" + BAD.encode())
    (tmp_path / "n.ipynb").write_text(notebook("!ls\nimport torch", BAD), encoding="utf-8")
    assert check(tmp_path, "--fix", "--unsafe-fixes").returncode == 0
    assert (tmp_path / "latin.py").read_bytes() == declared.replace(", nn.Softmax(1)", "").encode("latin-1")
    assert (tmp_path / "marked.py").read_bytes() == b"\xef\xbb\xbf" + GOOD.encode()
    assert (tmp_path / "n.ipynb").read_text(encoding="utf-8") == notebook("!ls\nimport torch", GOOD)


def test_a_diff_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, train=BAD)
    ended = check(tmp_path, "--diff", "--unsafe-fixes")
    assert ended.returncode == 1 and "--- a/train.py" in ended.stdout and ended.stderr == ""
    assert "+net = nn.Sequential(nn.Linear(4, 3))  # the scores" in ended.stdout
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == BAD
    assert check(tmp_path, "--diff").returncode == 0  # nothing that is safe


def test_a_baseline_hides_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", train=BAD)
    written = check(tmp_path, "--write-baseline")
    assert written.returncode == 0 and "1 finding written to netmend-baseline.json" in written.stderr
    write(tmp_path / "sub", train="# moved\n" + BAD)
    for folder, name in ((tmp_path, "netmend-baseline.json"), (tmp_path / "sub", "../netmend-baseline.json")):
        ended = check(folder, "--baseline", name)
        assert ended.returncode == 0, ended.stdout
    write(tmp_path / "sub", other=BAD)
    assert found(check(tmp_path, "--baseline", "netmend-baseline.json", "--format", "json")) == [
        ("sub/other.py", 4, "S201")
    ]
    mended = check(tmp_path, "--baseline", "netmend-baseline.json", "--fix", "--unsafe-fixes")
    assert mended.returncode == 0
    assert (tmp_path / "sub" / "train.py").read_text(
        encoding="utf-8"
    ) == "# moved\n" + BAD  # known: left in peace
    assert (tmp_path / "sub" / "other.py").read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize(
    "way", [("-m", "netmend"), ("-c", "import sys; sys.path.pop(0); from netmend.cli import main; main()")]
)
def test_nothing_of_the_users_is_executed_or_imported(tmp_path: Path, way: tuple[str, str]) -> None:
    trap = f"open({str(tmp_path / 'mark')!r}, 'w').close()\n"
    names = (
        "ast",
        "typing",
        "tokenize",
        "select",
        "json",
        "hashlib",
        "difflib",
        "argparse",
        "sitecustomize",
        "torch",
    )
    write(tmp_path, train=trap + "import model\n" + BAD, model=trap, **dict.fromkeys(names, trap))
    for number in range(70):  # enough for processes
        write(tmp_path, **{f"more_{number}": trap + BAD})
    command = [sys.executable, *way, "check", ".", "--jobs", "2", "--fix", "--unsafe-fixes"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "Found" in ended.stdout or ended.returncode == 0, ended.stderr
    assert "Softmax" not in (tmp_path / "train.py").read_text(encoding="utf-8")
    assert not (tmp_path / "mark").exists()


def test_many_files_in_processes(tmp_path: Path) -> None:
    write(tmp_path, **{f"file_{number}": BAD for number in range(80)})
    ended = check(tmp_path, "--jobs", "2", "--format", "json", "--select", "S2")
    assert len(found(ended)) == 80
    assert found(check(tmp_path, "--jobs", "1", "--no-cache", "--format", "json", "--select", "S2")) == found(
        ended
    )


def test_watching(tmp_path: Path) -> None:
    write(tmp_path, train=BAD)
    process = start(tmp_path, "--watch", "-q", bufsize=1)
    assert process.stdout is not None and process.stderr is not None
    try:
        assert "S201" in process.stdout.readline()
        assert "Watching" in process.stderr.readline()
        time.sleep(0.05)
        write(tmp_path, train="x = (\n")
        assert "train.py: line 1" in process.stderr.readline()
        assert "Watching" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 0 and "Traceback" not in err
    finally:
        process.kill()


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    line = "value = [number for number in range(10) if number % 3 and other(number, key=lambda one: one)]\n"
    write(tmp_path, **{f"file_{number}": "import torch\n" + line * 3000 for number in range(100)})
    process = start(tmp_path, "--jobs", "2", start_new_session=True)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode in (130, -signal.SIGINT, 0), err  # 0 on a machine that is done by then
    assert "Traceback" not in err


def test_the_page_of_a_rule(tmp_path: Path) -> None:
    def explain(*arguments: str) -> Ended:
        return netmend(tmp_path, "explain", *arguments)

    page = explain("s201").stdout
    for words in ("S201", "LYR-SOFTMAX-EXTRA", "Bad", "Good", "--unsafe-fixes", "# netmend: ignore[S201]"):
        assert words in page
    assert "S201" in explain("LYR-SOFTMAX-EXTRA").stdout
    assert "A comment silences" in explain("S001").stdout
    assert "S201" in explain().stdout and "HYP-LR-HIGH" in explain().stdout
    wrong = explain("S2O1")
    assert wrong.returncode == 2 and "did you mean S2" in wrong.stderr


def test_help(tmp_path: Path) -> None:
    ended = check(tmp_path, "--help")
    assert ended.returncode == 0 and "--unsafe-fixes" in ended.stdout and "Exit code" in ended.stdout
