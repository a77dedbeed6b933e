"""Programs that end badly, and what the outcome says of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from trying import TINY, Project, is_gone, numbers_after

from netmend.trials.trial import FAILED, FINISHED, LOST, OUT_OF_MEMORY, TIMED_OUT, Limits, Trial


def test_program_that_works(project: Project) -> None:
    """The checks below would also pass for a runner in which nothing works."""
    outcome = project.tried(TINY)
    assert (outcome.status, outcome.steps, outcome.exit_code) == (FINISHED, 20, 0), outcome
    assert outcome.exception == ""
    assert outcome.attempts == 1
    assert not outcome.notes
    assert outcome.output.splitlines()[-1].startswith("step 19 loss 0.6")
    assert [step for step, _ in outcome.series["printed:val acc"]] == [5, 10, 15, 20]
    assert Path(outcome.run).is_dir()
    assert (Path(outcome.root) / "train.py").is_file()


def test_hanging_program_is_ended_at_the_time_limit(project: Project) -> None:
    outcome = project.tried("import time\nprint('before')\ntime.sleep(1000)\n", limits=Limits(seconds=1))
    assert outcome.status == TIMED_OUT
    assert outcome.seconds >= 1
    assert outcome.output == "before"  # a killed process cannot tell it; the file it is kept in can


def test_program_that_ignores_signals_is_ended(project: Project) -> None:
    program = "import signal, time\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(1000)\n"
    assert project.tried(program, limits=Limits(seconds=1)).status == TIMED_OUT


def test_memory_limit(project: Project) -> None:
    program = """\
import time
held = []
for _ in range(100):
    held.append(bytearray(50_000_000))
    time.sleep(0.03)
time.sleep(1000)
"""
    outcome = project.tried(program, limits=Limits(seconds=300, megabytes=1500))
    assert outcome.status == OUT_OF_MEMORY


def test_memory_of_children_counts(project: Project) -> None:
    program = """\
import subprocess, sys, time
code = "import time; held = bytearray(1_500_000_000); time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
time.sleep(1000)
"""
    outcome = project.tried(program, limits=Limits(seconds=300, megabytes=1400))
    assert outcome.status == OUT_OF_MEMORY


def test_memory_that_processes_share_counts_once(project: Project) -> None:
    program = """\
import os, time
held = bytearray(300_000_000)
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        time.sleep(1)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print("done")
"""
    outcome = project.tried(program, limits=Limits(seconds=300, megabytes=1500))
    assert (outcome.status, outcome.output) == (FINISHED, "done")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_crash(name: str, project: Project) -> None:
    program = f"import os, signal\nprint('before')\nos.kill(os.getpid(), signal.{name})\n"
    outcome = project.tried(program)
    assert outcome.status == LOST
    assert name in outcome.exception
    assert outcome.attempts == 3
    assert "before" in outcome.output
    if name != "SIGKILL":
        assert "train.py" in outcome.output  # where it happened


def test_exception(project: Project) -> None:
    outcome = project.tried("def step():\n    raise ValueError('bad shape')\n\n\nstep()\n")
    assert (outcome.status, outcome.exit_code) == (FAILED, 1)
    assert outcome.exception == "ValueError: bad shape"
    assert "line 2, in step" in outcome.output
    assert "netmend" not in outcome.output.replace(".netmend", "")  # no frames of ours


def test_exception_that_cannot_be_told(project: Project) -> None:
    program = "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError\n\n\nraise Odd\n"
    outcome = project.tried(program)
    assert (outcome.status, outcome.exception) == (FAILED, "Odd")


@pytest.mark.parametrize(
    ("leaving", "status", "code", "told"),
    [
        ("sys.exit(3)", FAILED, 3, "SystemExit: 3"),
        ("sys.exit('no data')", FAILED, 1, "SystemExit: no data"),
        ("sys.exit()", FINISHED, 0, ""),
        ("os._exit(4)", FAILED, 4, "SystemExit: 4"),
        ("os._exit(0)", FINISHED, 0, ""),
    ],
)
def test_exit_codes(leaving: str, status: str, code: int, told: str, project: Project) -> None:
    outcome = project.tried(f"import os, sys\nprint('acc 0.5')\n{leaving}\n")
    assert (outcome.status, outcome.exit_code, outcome.exception) == (status, code, told)
    assert outcome.last("printed:acc") == 0.5


def test_syntax_error_and_missing_script(project: Project) -> None:
    outcome = project.tried("def train(:\n    pass\n")
    assert (outcome.status, outcome.exception.split(":")[0]) == (FAILED, "SyntaxError")
    outcome = project.tried(script="no_such.py")
    assert outcome.status == FAILED
    assert "no_such.py" in outcome.exception


def test_missing_input(project: Project) -> None:
    outcome = project.tried("name = input('Which dataset? ')\n")
    assert outcome.status == FAILED
    assert outcome.exception.startswith("EOFError")
    assert outcome.notes == ("reading standard input: a trial has none",)


def test_replacing_the_process_is_refused(project: Project) -> None:
    outcome = project.tried("import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'pass'])\n")
    assert outcome.status == FAILED
    assert outcome.notes == ("replacing its process",)


def test_children_are_gone_afterwards(project: Project) -> None:
    """One in the trial's session, one in its own, one that has also lost its parent, one that is another program."""
    program = """\
import os, subprocess, time

def sleeper(setsid, twice):
    reading, writing = os.pipe()
    if os.fork() == 0:
        if setsid:
            os.setsid()
        if twice and os.fork():
            os._exit(0)
        os.write(writing, str(os.getpid()).encode())
        time.sleep(1000)
    print("child", os.read(reading, 20).decode(), flush=True)

sleeper(False, False)
sleeper(True, False)
sleeper(True, True)
print("child", subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
ENDING
"""
    limits = Limits(seconds=60)
    for ending, status in (
        ("", FINISHED),
        ("os.kill(os.getpid(), 11)", LOST),
        ("time.sleep(1000)", TIMED_OUT),
    ):
        if status == TIMED_OUT:
            limits = Limits(seconds=4)
        outcome = project.tried(program.replace("ENDING", ending), limits=limits)
        assert outcome.status == status
        children = numbers_after("child", outcome.output)
        assert len(children) >= 4
        assert all(is_gone(child) for child in children)


@pytest.mark.parametrize(
    "way", ["print(line)", "os.write(1, line)", "subprocess.run(['head', '-c', '1000000000', '/dev/zero'])"]
)
def test_flood_of_output(way: str, project: Project) -> None:
    """1 GB, by Python, past Python, by another process."""
    kind = "b'x'" if "os.write" in way else "'x'"
    times = 1 if "head" in way else 1000
    program = f"""\
import os, subprocess
line = {kind} * 999_999 + {kind.replace("x", chr(92) + "n")}
for _ in range({times}):
    {way}
print("val acc 0.75")
"""
    outcome = project.tried(program, limits=Limits(seconds=600, megabytes=1500))
    assert outcome.status == FINISHED, outcome
    assert outcome.last("printed:val acc") == 0.75
    assert len(outcome.output) <= 4000
    trial = Path(outcome.root).parent
    assert sum(path.stat().st_size for path in trial.rglob("*") if path.is_file()) < 5_000_000


def test_worker_that_is_killed_costs_a_retry(project: Project, tmp_path: Path) -> None:
    """Killed from outside during its first attempt; the second one works."""
    marker = tmp_path / "started"
    program = f"""\
import os, time
first = not os.path.exists({str(marker)!r})
with open({str(marker)!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
if first:
    time.sleep(1000)
print("val acc 0.5")
"""

    def kill() -> None:
        while not (marker.exists() and marker.read_text().endswith("\n")):
            time.sleep(0.05)
        os.kill(int(marker.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcome = project.tried(program, limits=Limits(seconds=300))
    killer.join()
    assert (outcome.status, outcome.attempts, outcome.last("printed:val acc")) == (FINISHED, 2, 0.5)


def test_loss_of_the_process_that_trials_are_forked_from(project: Project) -> None:
    (parent,) = numbers_after("parent", project.tried("import os\nprint('parent', os.getppid())\n").output)
    program = f"""\
import os, time
if os.getppid() == {parent}:
    os.kill({parent}, 9)
    time.sleep(1000)
print("acc 1")
"""
    outcome = project.tried(program)
    assert (outcome.status, outcome.attempts, outcome.last("printed:acc")) == (FINISHED, 2, 1)
    assert is_gone(parent)


def test_interrupted_batch_ends_at_once(project: Project) -> None:
    """Ctrl-C in the caller: what runs is ended, what waits is not begun."""
    project.write("train.py", "import os, time\nprint('child', os.getpid())\ntime.sleep(1000)\n")
    runner = project.runner(Limits(seconds=600))
    trials = [Trial(runner.target, seed=seed) for seed in range(6)]

    def interrupt() -> None:
        while not any(runner.folder.glob("*/tail")):
            time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            runner.run(trials)
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    assert not any(runner.folder.glob("*/outcome.json"))
    assert len(list(runner.folder.glob("*/tail"))) <= 2
