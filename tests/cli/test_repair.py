"""`netmend repair` as a user types it: small programs with a mistake, trained for real in processes of their own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_server import Ended, netmend

from netmend.cli import main

TIME_LIMIT_SECONDS = 600.0

SOFTMAX = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
model = nn.Sequential(
    nn.Linear(6, 32),
    nn.ReLU(),
    nn.Linear(32, 4),
    nn.Softmax(dim=1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(160):
    batch = torch.randint(0, 300, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        model.eval()
        with torch.no_grad():
            accuracy = (model(x[300:]).argmax(1) == y[300:]).float().mean()
        model.train()
        print(f"step {step}: val acc {accuracy:.3f}")
open("log.txt", "a").write("trained\\n")
"""
CURED = SOFTMAX.replace("    nn.Softmax(dim=1),\n", "")

HEALTHY = (
    CURED.replace("(x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()", "(x[:, 0] > 0).long()")
    .replace("nn.Linear(32, 4)", "nn.Linear(32, 2)")
    .replace("lr=0.1", "lr=0.5")
    .replace("range(160)", "range(400)")
)

CRASHING = """\
import torch
from torch import nn

torch.manual_seed(0)
shift = float(open("data/shift.txt").read())
x = torch.randn(400, 6)
y = (x[:, 0] > shift).long() * 2 + (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(160):
    batch = torch.randint(0, 300, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
right = (model(x[300:]).argmax(1) == y[300:]).sum().item()
print(f"result: {right} right")
"""

SETTINGS = '"""Of the training."""\r\nSTEPS = 160\r\nRATE = 10  # as in the paper\r\n'
MODULE = """\
from pathlib import Path

import torch
from torch import nn

from .settings import RATE, STEPS


def main():
    torch.manual_seed(0)
    x = torch.randn(400, 6)
    y = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for step in range(STEPS):
        batch = torch.randint(0, 300, (32,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    error = (model(x[300:]).argmax(1) != y[300:]).float().mean().item()
    Path("final_error.txt").write_text(f"{error}\\n")


if __name__ == "__main__":
    main()
"""

WITH_OPTIONS = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.3)
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()
torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for step in range(args.steps):
    batch = torch.randint(0, 300, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        with torch.no_grad():
            accuracy = (model(x[300:]).argmax(1) == y[300:]).float().mean()
        print(f"step {step}: val acc {accuracy:.3f}")
"""

NUMBER = {"type": ["number", "null"]}
CONTRACT = {
    "type": "object",
    "required": [
        "schema", "verdict", "script", "patch", "arguments", "causes", "titles", "metric", "seeds", "before", "after",
        "p_value", "effect_size", "improvement", "interval", "missing", "trainings", "budget", "baseline", "faults", "tried",
    ],
    "properties": {
        "schema": {"const": 1},
        "verdict": {"enum": ["proven", "promising", "none"]},
        "patch": {"type": "string"},
        "arguments": {"type": ["array", "null"], "items": {"type": "string"}},
        "metric": {"type": "object", "required": ["name", "higher_is_better"]},
        "seeds": {"type": "array", "items": {"type": "integer"}},
        "before": {"type": "array", "items": NUMBER},
        "after": {"type": "array", "items": NUMBER},
        "p_value": NUMBER,
        "tried": {"type": "array", "items": {"type": "object", "required": ["title", "status", "value", "accepted"]}},
    },
}  # fmt: skip


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "netmend", "repair", *arguments]


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NETMEND", "PYTHON"))}
    return {**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}


def repair(folder: Path, *arguments: str) -> Ended:
    return netmend(folder, "repair", *arguments, columns=100)


def repaired(folder: Path, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    """What the JSON says, and what was shown; the file lies outside of the project."""
    file = folder.parent / f"{folder.name}.json"
    ended = repair(folder, "--json", str(file), *arguments)
    assert ended.returncode == code, f"{ended.stdout}\n{ended.stderr}"
    assert "Traceback" not in ended.stderr
    data = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(data, CONTRACT)
    return data, ended.stdout


def everything(folder: Path) -> dict[str, str]:
    """Every file outside .netmend, by what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".netmend" not in path.relative_to(folder).parts
    }


def outcomes(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The trials that came to their end, with the time at which they did."""
    found = (folder / ".netmend" / "trials").glob("*/outcome.json")
    return {path.parent.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def left_running(folder: Path) -> list[str]:
    """Processes that work in a folder, where the system tells."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").resolve().is_relative_to(folder.resolve()):
                found.append(entry.name)
    return found


def project(folder: Path, **files: str) -> Path:
    """Files by name, `__` for a slash: scripts__train."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "shift.txt").write_bytes(b"0.0")
    (folder / "data" / "image.bin").write_bytes(bytes(range(256)))
    return folder


# -- a proven repair ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def softmax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("softmax"), train=SOFTMAX)


@pytest.fixture(scope="module")
def before(softmax: Path) -> dict[str, str]:
    return everything(softmax)


@pytest.fixture(scope="module")
def proven(softmax: Path, before: dict[str, str]) -> tuple[dict[str, Any], str]:
    return repaired(softmax, "--budget", "8x", "--html", str(softmax.parent / "page.html"), "train.py")


def test_a_fix_is_found_and_proven(proven: tuple[dict[str, Any], str]) -> None:
    data, shown = proven
    assert data["verdict"] == "proven" and data["missing"] == []
    assert data["causes"] == ["LYR-SOFTMAX-EXTRA"]
    removed = [line for line in data["patch"].splitlines() if line.startswith("-") and line[1:2] != "-"]
    added = [line for line in data["patch"].splitlines() if line.startswith("+") and line[1:2] != "+"]
    assert removed == ["-    nn.Softmax(dim=1),"] and added == []
    assert data["patch"].startswith("--- a/train.py\n+++ b/train.py\n")
    assert data["metric"]["name"] == "val acc" and data["metric"]["higher_is_better"] is True
    assert len(data["seeds"]) == len(data["before"]) == len(data["after"]) >= 5
    assert all(new > old for old, new in zip(data["before"], data["after"], strict=True))
    assert data["p_value"] < 0.05 and data["effect_size"] >= 0.5 and data["improvement"] > 0
    assert data["trainings"] <= 8 and data["budget"] == "8 trainings"
    assert [item["accepted"] for item in data["tried"]].count(True) == 1
    assert "A fix is proven" in shown and "-    nn.Softmax(dim=1)," in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_the_page_shows_the_patch(softmax: Path, proven: tuple[dict[str, Any], str]) -> None:
    page = (softmax.parent / "page.html").read_text(encoding="utf-8")
    assert "nn.Softmax(dim=1)" in page and "val acc" in page
    assert "https://" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_the_users_files_stay_as_they_are(
    softmax: Path, before: dict[str, str], proven: tuple[dict[str, Any], str]
) -> None:
    """Although the program writes a file wherever it is started."""
    assert everything(softmax) == before
    assert (softmax / "train.py").read_text() == SOFTMAX


def test_without_enough_budget_the_exit_code_says_that_something_is_wrong(
    softmax: Path, before: dict[str, str], proven: tuple[dict[str, Any], str]
) -> None:
    data, shown = repaired(softmax, "--budget", "1x", "--apply", "train.py", code=1)
    assert data["verdict"] == "none" and data["patch"] == "" and data["tried"] == []
    assert data["faults"][0]["code"] == "LYR-SOFTMAX-EXTRA"
    assert "nothing was applied: the verdict is none" in shown
    assert everything(softmax) == before


def test_apply_puts_the_patch_in_and_trains_nothing_again(
    softmax: Path, before: dict[str, str], proven: tuple[dict[str, Any], str]
) -> None:
    """Last of those that share this folder: afterwards it is another program."""
    done = outcomes(softmax)
    data, shown = repaired(softmax, "--budget", "8x", "--apply", "train.py")
    assert outcomes(softmax) == done
    assert {**data, "seconds": 0} == {**proven[0], "seconds": 0}
    assert (softmax / "train.py").read_text() == CURED
    assert (softmax / "train.py.orig").read_text() == SOFTMAX
    after = everything(softmax)
    assert set(after) - set(before) == {"train.py.orig"}
    assert {name for name in before if after[name] != before[name]} == {"train.py"}
    assert "train.py patched; the original is train.py.orig" in shown


# -- killed and started again ------------------------------------------------------------------------------------------


def test_a_search_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, proven: tuple[dict[str, Any], str]
) -> None:
    folder = project(tmp_path / "project", train=SOFTMAX)
    started = everything(folder)
    process = subprocess.Popen(
        command("--budget", "8x", "-q", "train.py"),
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        while len(outcomes(folder)) < 3 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    done = outcomes(folder)
    assert 3 <= len(done) < 12
    data, _ = repaired(folder, "--budget", "8x", "train.py")
    after = outcomes(folder)
    assert {name: after[name] for name in done} == done  # none of these was run again
    uninterrupted = proven[0]
    for key in (
        "verdict",
        "patch",
        "arguments",
        "titles",
        "metric",
        "seeds",
        "before",
        "after",
        "p_value",
        "trainings",
    ):
        assert data[key] == uninterrupted[key], key
    told = ("title", "status", "value", "gain", "cost", "accepted")
    assert [[item[key] for key in told] for item in data["tried"]] == [
        [item[key] for key in told] for item in uninterrupted["tried"]
    ]
    assert len(after) == data["verification_trainings"] + len(data["tried"]) + 1
    assert everything(folder) == started
    while left_running(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_running(folder) == []


# -- other programs ----------------------------------------------------------------------------------------------------


def test_a_healthy_program_is_left_in_peace(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", train=HEALTHY)
    started = everything(folder)
    data, shown = repaired(folder, "--budget", "3x", "--apply", "train.py")
    assert data["verdict"] == "none" and data["patch"] == "" and data["arguments"] is None
    assert data["faults"] == []
    assert "No fault found" in shown
    assert everything(folder) == started


def test_a_crash_is_repaired_in_a_subfolder_with_the_users_own_measure(tmp_path: Path) -> None:
    """`--metric`; and paths are those of the folder in which the program is started."""
    folder = project(tmp_path / "project", scripts__train=CRASHING)
    started = everything(folder)
    data, shown = repaired(
        folder, "--budget", "8x", "--metric", r"result: (\d+) right", "--apply", "scripts/train.py"
    )
    assert data["verdict"] == "proven"
    assert data["baseline"]["status"] == "failed" and "RuntimeError" in data["baseline"]["exception"]
    assert data["before"] == [None] * len(data["seeds"]) and min(data["after"]) > 60
    assert data["metric"]["higher_is_better"] is True
    assert data["patch"].startswith("--- a/scripts/train.py\n+++ b/scripts/train.py\n")
    after = everything(folder)
    assert set(after) - set(started) == {"scripts/train.py.orig"}
    assert {name for name in started if after[name] != started[name]} == {"scripts/train.py"}
    mended = (folder / "scripts" / "train.py").read_text()
    assert ("nn.Linear(6, 32)" in mended) == ("nn.Linear(32, 4)" in mended)
    assert "scripts/train.py patched" in shown


def test_a_module_with_a_measure_in_a_file(tmp_path: Path) -> None:
    """`-m`, `--metric-file`, `--directory`; the value stands in another module, with Windows' line ends."""
    folder = project(
        tmp_path / "project", package____init__="", package__train=MODULE, package__settings=SETTINGS
    )
    started = everything(folder)
    kept = tmp_path / "kept"
    data, _ = repaired(
        folder,
        "--budget",
        "8x",
        "--directory",
        str(kept),
        "--metric-file",
        "final_error.txt",
        "-m",
        "package.train",
    )
    assert data["verdict"] == "proven" and data["causes"][0] == "HYP-LR-HIGH"
    assert data["metric"]["higher_is_better"] is False and data["script"] == "package.train"
    assert all(new < old for old, new in zip(data["before"], data["after"], strict=True))
    lines = data["patch"].split("\n")
    assert lines[:2] == ["--- a/package/settings.py", "+++ b/package/settings.py"]
    assert "-RATE = 10  # as in the paper\r" in lines
    (added,) = [line for line in lines if line.startswith("+RATE")]
    assert added.endswith("  # as in the paper\r") and 0 < float(added.split()[2]) < 10
    assert everything(folder) == started and not (folder / ".netmend").exists()
    assert list(kept.glob("trials/*/outcome.json"))


def test_a_value_from_the_command_line_is_changed_there(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", train=WITH_OPTIONS)
    started = everything(folder)
    data, shown = repaired(folder, "--budget", "8x", "--apply", "train.py", "--lr", "10", "--steps", "160")
    assert data["verdict"] == "proven" and data["patch"] == ""
    first, rate, *rest = data["arguments"]
    assert (first, rest) == ("--lr", ["--steps", "160"]) and 0 < float(rate) < 10
    assert f"start it with: train.py --lr {rate} --steps 160" in shown
    assert everything(folder) == started


# -- what is not understood --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("missing.py",), "there is no file missing.py"),
        (("data",), "there is no file data"),
        ((), "name the script to repair"),
        (
            ("--budget", "lots", "train.py"),
            "--budget must be like 20x (trainings), 90s, 10m or 2h, got 'lots'",
        ),
        (("--budget", "0x", "train.py"), "got '0x'"),
        (("--metric", "acc ([0-9.]+", "train.py"), "--metric is no regular expression"),
        (("--metric", "acc [0-9.]+", "train.py"), "--metric needs one group"),
        (("--metric", "(acc) ([0-9.]+)", "train.py"), "has 2"),
        (("--metric", "(a)", "--metric-file", "b", "train.py"), "use --metric or --metric-file, not both"),
        (("--executor", "cloud", "train.py"), "--executor must be local or ray, got 'cloud'"),
        (("--json", "missing/x.json", "train.py"), "does not exist; create it first"),
        (("--html", "data", "train.py"), "that is a directory"),
        (("--time-limit", "-1", "train.py"), "--time-limit must be a number of seconds above 0, got -1"),
        (("--jobs", "0", "train.py"), "--jobs"),
        (("--budgte", "3x", "train.py"), "--budgte"),
    ],
)
def test_bad_input_gets_one_clear_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    folder = project(tmp_path / "project", train="raise SystemExit('never started')\n")
    started = everything(folder)
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as left:
        main(["repair", *arguments])
    shown = capsys.readouterr()
    assert left.value.code == 2 and shown.out == ""
    assert complaint in shown.err and len(shown.err.splitlines()) == 1
    assert everything(folder) == started and not (folder / ".netmend").exists()


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    ended = repair(project(tmp_path / "project", train=HEALTHY), "-q", "-m", "no_such_package.train")
    assert ended.returncode == 2 and ended.stdout == ""
    assert "no_such_package" in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_a_program_that_does_not_train(tmp_path: Path) -> None:
    """Nothing can be said of it, and nothing is changed."""
    folder = project(tmp_path / "project", hello="print('hello')\n", broken="x = (\n")
    data, _ = repaired(folder, "hello.py")
    assert data["verdict"] == "none" and data["patch"] == "" and data["tried"] == []
    data, shown = repaired(folder, "broken.py", code=1)
    assert data["baseline"]["status"] == "failed" and "SyntaxError" in shown
