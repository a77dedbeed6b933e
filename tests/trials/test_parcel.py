"""Trials as bytes, and the part of the Ray executor that needs no Ray."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trying import TINY, Project

from netmend.errors import UsageError
from netmend.trials import on_ray, parcel
from netmend.trials.local import LocalExecutor
from netmend.trials.on_ray import RayExecutor, held, on_node, sweep
from netmend.trials.parcel import Parcel, data_of, pack, unpack, variables
from netmend.trials.trial import FINISHED, Target, Trial, from_json
from netmend.version import VERSION


def test_files_there_and_back(tmp_path: Path) -> None:
    user, there = tmp_path / "user", tmp_path / "there"
    (user / "deep").mkdir(parents=True)
    for name, content in {
        "a.py": b"x",
        "deep/b.bin": bytes(range(256)),
        "empty": b"",
        "run.sh": b"#!/bin/sh",
    }.items():
        (user / name).write_bytes(content)
    (user / "run.sh").chmod(0o755)
    (user / "deep" / "circle").symlink_to(user)
    unpack(pack(user), there)
    assert (there / "deep/b.bin").read_bytes() == bytes(range(256))
    assert (there / "empty").read_bytes() == b""
    assert (there / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (there / "a.py").stat().st_mtime_ns == (user / "a.py").stat().st_mtime_ns


def test_data_is_everything_but_sources(tmp_path: Path) -> None:
    user, outside = tmp_path / "user", tmp_path / "outside"
    for name in ("user/train.py", "user/data/a.npy", "user/.git/config", "outside/b.npy"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (user / "linked").symlink_to(outside)
    assert data_of(user).keys() == {"data/a.npy", "linked/b.npy"}


def test_too_much_data_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "MOST_BYTES", 10)
    (tmp_path / "data.bin").write_bytes(b"x" * 11)
    with pytest.raises(UsageError, match=r"more than 0 MB.*all machines share"):
        data_of(tmp_path)


def test_variables_that_the_program_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPOCHS", "3")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    (tmp_path / "train.py").write_text("import os\nprint(os.environ['EPOCHS'], os.getenv(\"HOME\"))\n")
    assert variables(tmp_path) == {"EPOCHS": "3"}


def test_trial_on_a_node(project: Project, executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ray would call it, without Ray."""
    monkeypatch.setattr(on_ray, "_executors", [executor])
    project.write(
        "train.py", TINY + "import os\nprint('given', os.environ['GIVEN'], open('data.bin').read())\n"
    )
    project.write("data.bin", "content")
    trial = Trial(Target("train.py", (), False, str(project.folder)))
    sent = Parcel(trial, pack(project.folder), (str(project.folder),), {"GIVEN": "value"}, VERSION)
    answer = on_node(sent, data_of(project.folder))
    outcome = from_json(answer.outcome)
    assert outcome is not None
    assert (outcome.status, outcome.steps) == (FINISHED, 20), outcome
    assert outcome.output.endswith("given value content")
    assert outcome.root == f"{answer.folder}/program"
    assert not Path(answer.folder).exists()
    assert any(name.endswith("trace.sqlite") for name in answer.files)


def test_folders_of_killed_trials_are_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("netmend-trial-left", "netmend-trial-busy", "other"):
        (tmp_path / name / "program").mkdir(parents=True)
        (tmp_path / name / "lock").touch()
    (tmp_path / "netmend-trial-new").mkdir()  # not locked yet
    with held(tmp_path / "netmend-trial-busy") as alone:
        assert alone
        sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "netmend-trial-busy",
        "netmend-trial-new",
        "other",
    ]


def test_other_version_on_a_node() -> None:
    with pytest.raises(UsageError, match="install the same one"):
        on_node(Parcel(Trial(Target("train.py")), {}, (), {}, "0.0.0"), {})


def test_missing_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'netmend\[scale\]'"):
        RayExecutor(None, None)


class FakeRay:
    """As much of Ray as it takes to join a cluster, or not."""

    def __init__(self, cluster: bool, connected: bool = False) -> None:
        self.cluster, self.connected = cluster, connected
        self.asked: list[dict[str, Any]] = []
        self.left = 0

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **options: Any) -> None:
        self.asked.append(options)
        if options["address"] != "local" and not self.cluster:
            raise ConnectionError("nobody there")
        self.connected = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 7.0, "memory": 1e9}

    def remote(self, **options: Any) -> Any:
        return lambda function: SimpleNamespace(options=options, function=function)

    def shutdown(self) -> None:
        self.left += 1
        self.connected = False


@pytest.mark.parametrize(
    ("address", "in_a_job", "asked"),
    [
        (None, True, ["auto"]),
        (None, False, ["local"]),
        ("local", True, ["local"]),
        ("auto", False, ["auto"]),
        ("ray://head:10001", False, ["ray://head:10001"]),
    ],
)
def test_addresses(
    address: str | None, in_a_job: bool, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:6379" if in_a_job else "")
    fake = FakeRay(True)
    monkeypatch.setitem(sys.modules, "ray", fake)
    executor = RayExecutor(address, None)
    assert [options["address"] for options in fake.asked] == asked
    assert executor.jobs == 7
    executor.close()
    executor.close()
    assert fake.left == 1  # leaves a cluster, or ends what it has started: Ray knows which


def test_connection_of_the_callers_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay(True, connected=True)
    monkeypatch.setitem(sys.modules, "ray", fake)
    executor = RayExecutor(None, 3)
    assert executor.jobs == 3
    executor.close()
    assert (fake.asked, fake.left) == ([], 0)


def test_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay(False))
    with pytest.raises(UsageError, match="no Ray cluster answers at 'auto': nobody there"):
        RayExecutor("auto", None)
