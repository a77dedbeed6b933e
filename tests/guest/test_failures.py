"""Killed, out of disk, locked out of the directory: training goes on and what was written can be read."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import (
    OWN_SOURCE,
    PROGRAMS,
    Command,
    Outcome,
    environment,
    netmend_command,
    only_trace,
    recorded_runs,
    run,
)

from netmend.store import read_trace

LONG_RUN = (str(PROGRAMS / "long_run.py"), "400")
FULL = ("-q", "--full")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The long run without netmend."""
    outcome = run(Command(LONG_RUN).line, tmp_path_factory.mktemp("plain"))
    assert outcome.code == 0
    return outcome


def start(cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        Command(arguments, ("-q",)).line,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )


def assert_not_disturbed(outcome: Outcome, undisturbed: Outcome) -> None:
    assert (outcome.code, outcome.out) == (undisturbed.code, undisturbed.out), outcome.err
    assert OWN_SOURCE not in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment(seed: int, tmp_path: Path) -> None:
    process = start(tmp_path, LONG_RUN[0], "1000000")
    if seed == 0:
        time.sleep(random.Random(os.getpid()).uniform(0.05, 2.0))  # anywhere in start-up
    else:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(random.Random(seed * os.getpid()).uniform(0.0, 2.0))
    process.kill()
    process.communicate()
    listed = netmend_command(tmp_path, "runs")
    assert listed.code == 0
    assert "Traceback" not in listed.err
    for info in recorded_runs(tmp_path):
        shown = netmend_command(tmp_path, "show", info.id)
        assert shown.code == 0, shown.err
        assert info.id in shown.out
        steps, losses = read_trace(info.path).loss
        assert len(steps) == len(losses)
    if seed:
        assert len(recorded_runs(tmp_path)) == 1


def test_killed_run_keeps_its_steps(tmp_path: Path) -> None:
    """After a few seconds something must have been flushed."""
    process = start(tmp_path, LONG_RUN[0], "1000000")
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    for _ in range(100):
        time.sleep(0.1)
        (info,) = recorded_runs(tmp_path)
        if len(read_trace(info.path).loss[0]) > 50:  # read while it grows
            break
    process.kill()
    process.communicate()
    trace = only_trace(tmp_path)
    assert len(trace.loss[0]) > 50
    assert trace.models and trace.optimizers


def test_hard_exit_leaves_a_readable_run(tmp_path: Path) -> None:
    outcome = run(Command((str(PROGRAMS / "ends_badly.py"), "hard-exit"), FULL).line, tmp_path)
    assert outcome.code == 5
    (info,) = recorded_runs(tmp_path)
    assert netmend_command(tmp_path, "show", info.id).code == 0


@pytest.mark.parametrize("limit", [5_000, 100_000])
def test_file_size_limit(limit: int, undisturbed: Outcome, tmp_path: Path) -> None:
    """As on a full disk, every write beyond the limit fails."""
    code = f"import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {resource.RLIM_INFINITY})); os.execv(sys.executable, sys.argv[1:])"
    outcome = run([sys.executable, "-c", code, *Command(LONG_RUN, FULL).line], tmp_path)
    assert_not_disturbed(outcome, undisturbed)
    assert netmend_command(tmp_path, "runs").code == 0


@contextlib.contextmanager
def mounted(directory: Path, options: str) -> Iterator[None]:
    """A small file system of its own, where the machine lets us have one."""
    directory.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "netmend-test", str(directory)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"cannot mount a file system here: {done.stderr.decode(errors='replace').strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="no mount command")
@pytest.mark.parametrize("options", ["size=64k", "ro"])
def test_full_or_read_only_disk(options: str, undisturbed: Outcome, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", options):
        outcome = run(Command(LONG_RUN, FULL).line, tmp_path / "disk")
        assert_not_disturbed(outcome, undisturbed)
        assert netmend_command(tmp_path / "disk", "runs").code == 0


def test_directory_cannot_be_made(undisturbed: Outcome, tmp_path: Path) -> None:
    (tmp_path / ".netmend").write_text("a file, not a directory")
    outcome = run(Command(LONG_RUN, ()).line, tmp_path)
    assert_not_disturbed(outcome, undisturbed)
    assert ".netmend" in outcome.err  # said once, since nothing will be recorded
    assert (tmp_path / ".netmend").read_text() == "a file, not a directory"


def test_working_directory_is_gone(tmp_path: Path) -> None:
    """Without torch, whose MKL cannot be loaded from a directory that no longer exists."""
    code = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv(sys.executable, sys.argv[1:])"
    target = (str(PROGRAMS / "never_trains.py"),)
    plain = run([sys.executable, "-c", code, *Command(target).line], tmp_path)
    watched = run([sys.executable, "-c", code, *Command(target, ("-q",)).line], tmp_path)
    assert plain.code == 0
    assert watched == plain


def test_run_directory_removed_while_training(undisturbed: Outcome, tmp_path: Path) -> None:
    process = start(tmp_path, *LONG_RUN)
    assert process.stdout is not None
    first = process.stdout.readline()
    shutil.rmtree(tmp_path / ".netmend")
    out, err = process.communicate(timeout=60)
    assert_not_disturbed(Outcome(process.returncode, first + out, err), undisturbed)


@pytest.mark.parametrize(
    "module",
    [
        "netmend.adapters.torch.watch.session",
        "netmend.store.writer",
        "netmend.observe.recorder",
        "netmend.report.terminal",
    ],
)
def test_broken_netmend_under_the_command(module: str, undisturbed: Outcome, tmp_path: Path) -> None:
    """A `sitecustomize` breaks all functions of one module as soon as it has been imported."""
    (tmp_path / "site").mkdir()
    hook = Path(__file__).with_name("sabotage_hook.py").read_text()
    (tmp_path / "site" / "sitecustomize.py").write_text(f"{hook}\ninstall({module!r})\n")
    outcome = run(
        Command(LONG_RUN, ()).line, tmp_path, extra_environment={"PYTHONPATH": str(tmp_path / "site")}
    )
    assert_not_disturbed(outcome, undisturbed)
    assert (tmp_path / "site" / "broken").exists(), "the sabotage never took place"
