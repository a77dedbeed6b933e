"""`netmend env`: packages, requirement files, data paths, devices, output and exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from netmend.cli.env import show_environment
from netmend.environment.check import concerning
from netmend.environment.dataset_paths import look_at, problems_with
from netmend.environment.facts import Environment, Problem
from netmend.environment.machine import devices, read_devices
from netmend.environment.packages import installed, torch_build, unmet
from netmend.errors import UsageError

HERE = Environment(
    "3.12.0", "CPython", "python", "linux", "x", "x86_64", None, {"numpy": "1.26.0", "my-pkg": "1.0"}
)


def distribution(folder: Path, name: str, version: str, *requires: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    (info / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n")


def test_installed_distributions_and_what_they_miss(tmp_path: Path) -> None:
    distribution(tmp_path, "Big_Thing", "2.0", "small>=3", "absent", "other; extra == 'x'", "fine<9")
    distribution(tmp_path, "small", "2.5")
    distribution(tmp_path, "fine", "1")
    versions, conflicts = installed([str(tmp_path)])
    assert versions == {"big-thing": "2.0", "fine": "1", "small": "2.5"}
    assert sorted(conflicts) == [
        "big-thing 2.0 needs absent, which is not installed",
        "big-thing 2.0 needs small>=3, but 2.5 is installed",
    ]


def test_torch_build_is_read_without_importing(tmp_path: Path) -> None:
    distribution(tmp_path, "torch", "2.2.0+cu121")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text(
        "raise SystemExit\ncuda: Optional[str] = '12.1'\nhip: Optional[str] = None\n"
    )
    build = torch_build([str(tmp_path)])
    assert build is not None and (build.cuda, build.hip) == ("12.1", None)
    assert torch_build([str(tmp_path / "torch")]) is None


def test_requirement_files(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy>=2\nmy_pkg\ntorch==1.8.0\n# comment\n-r x.txt\n")
    (tmp_path / "requirements-dev.txt").write_text("pytest>=99\n")
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    numpy<1.20\n")
    found = unmet(tmp_path, HERE)
    assert [(problem.level, problem.about) for problem in found] == [
        ("bad", "numpy"),
        ("warning", "torch"),
        ("bad", "numpy"),
    ]
    assert "numpy>=2, and 1.26.0 is installed" in found[0].what
    assert "no builds for 3.12.0" in found[1].do


def test_broken_project_files_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    (tmp_path / "setup.cfg").write_text("no section\n")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe\x00numpy>=2")
    assert unmet(tmp_path, HERE) == ()


def test_data_paths(tmp_path: Path) -> None:
    data = tmp_path / "Data"
    (data / "train").mkdir(parents=True)
    (data / "train" / "a.bin").write_bytes(b"12345")
    (data / "train" / "b.bin").touch()
    (data / "gone").symlink_to(tmp_path / "nowhere")
    (data / "round").symlink_to(data)
    seen = look_at(data)
    assert (seen.kind, seen.files, seen.size, seen.broken, seen.empty) == ("folder", 2, 5, 1, 1)
    whats = [problem.what for problem in problems_with(seen)]
    assert any("1 links" in what for what in whats) and any("1 of 2 files" in what for what in whats)
    assert look_at(data, most=1).cut


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("data/train", "upper and lower case"),
        ("other/x", "nearest folder"),
        ("link", "is a link to"),
        ("empty", "holds no files"),
    ],
)
def test_paths_that_give_no_data(tmp_path: Path, name: str, word: str) -> None:
    (tmp_path / "Data" / "Train").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    (problem,) = problems_with(look_at(tmp_path / name))
    assert problem.level == "bad" and word in problem.what


def test_devices_as_nvidia_smi_prints_them() -> None:
    driver, gpus = read_devices("550.54.15, NVIDIA H200, 143771, 9.0\n550.54.15, NVIDIA H200, [N/A], [N/A]\n")
    assert driver == "550.54.15" and gpus[0].capability == "9.0" and gpus[0].memory == 143771 * 1024**2
    assert gpus[1].memory is None and gpus[1].capability is None


def test_driver_from_proc_where_there_is_no_tool(tmp_path: Path) -> None:
    file = tmp_path / "version"
    file.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13\n")
    assert devices("no-such-program", file) == ("470.57.02", ())
    assert devices("no-such-program", tmp_path / "none") == (None, ())


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_failing_tool_is_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices(proc=tmp_path / "none") == (None, ())


def test_json_and_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "requirements.txt").write_text("numpy>=1.0\n")
    assert show_environment(tmp_path, (), json=True) in (0, 1)
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == 1 and data["environment"]["packages"]["numpy"]
    missing = tmp_path / "nothing"
    assert show_environment(tmp_path, (missing,), json=True) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["bad"] is True and data["paths"][0]["kind"] == "missing"


def test_text_on_a_narrow_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    (tmp_path / "requirements.txt").write_text("numpy>=99\n")
    assert show_environment(tmp_path, (), json=False) == 1
    out = capsys.readouterr().out
    assert "problem" in out and "numpy>=99" in out and "python" in out
    assert max(len(line) for line in out.splitlines()) <= 40


def test_project_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        show_environment(tmp_path / "x", (), json=False)


def test_problems_concerning_a_library() -> None:
    problems = [Problem("bad", "torch 2.2 with numpy 2.0", "…", ""), Problem("warning", "disk", "…", "")]
    assert concerning(problems, ["NumPy"]) == (problems[0],)
