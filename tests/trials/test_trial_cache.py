"""Every trial runs once: the next time its outcome is read, also after a crash, also by another netmend."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from trying import Project, is_gone

from netmend.errors import UsageError
from netmend.trials.output import read_tail
from netmend.trials.trial import FINISHED, TIMED_OUT, Limits, Outcome, Rule, Target, Trial, from_json, to_json


def counted(project: Project, more: str = "") -> Path:
    """A program that leaves a mark outside of the user's folder whenever it is started."""
    marks = project.folder.parent / "marks"
    project.write(
        "train.py",
        f"import sys\nwith open({str(marks)!r}, 'a') as file:\n    file.write(' '.join(sys.argv[1:]) + '.\\n')\n{more}\n"
        "print('val acc 0.5')\n",
    )
    return marks


def test_same_trial_runs_once(project: Project) -> None:
    marks = counted(project)
    runner = project.runner()
    trial = Trial(runner.target)
    first = runner.run([trial, trial])  # at the same time, even
    again = runner.run([trial])
    fresh = project.runner().run([trial])
    assert marks.read_text() == ".\n"
    assert first == [*again, *fresh] == [first[0]] * 2
    assert first[0].last("printed:val acc") == 0.5
    assert (runner.used.trials, runner.used.cached) == (3, 2)


def test_order_of_outcomes_is_that_of_the_trials(project: Project) -> None:
    project.write("train.py", "import sys, time\ntime.sleep(float(sys.argv[1]))\nprint('acc', sys.argv[1])\n")
    runner = project.runner()
    times = ["0.6", "0.0", "0.3", "0.1"]
    trials = [Trial(replace(runner.target, arguments=(wait,))) for wait in times]
    assert [outcome.last("printed:acc") for outcome in runner.run(trials)] == [float(wait) for wait in times]
    assert runner.run([]) == []


def test_what_makes_another_trial(project: Project) -> None:
    marks = counted(project)
    runner = project.runner()
    plain = Trial(runner.target)
    others = [
        plain,
        replace(plain, seed=1),
        replace(plain, texts=(("other.py", "x = 1\n"),)),
        replace(plain, target=replace(runner.target, arguments=("--lr", "1"))),
        replace(plain, rule=Rule("training:loss", False, ((5, 1.0),))),
        replace(plain, pattern="acc"),
        replace(plain, measure_file="x"),
        replace(plain, limits=Limits(network=True)),
        replace(plain, limits=Limits(threads=2)),
    ]
    assert len({runner.place(trial) for trial in others}) == len(others)
    limited = replace(plain, limits=Limits(seconds=100, megabytes=5000))
    assert runner.place(limited) == runner.place(plain)
    runner.run(others[:2])
    assert len(marks.read_text().splitlines()) == 2


def test_changed_files_make_another_trial(project: Project) -> None:
    marks = counted(project)
    project.write("config.yaml", "lr: 0.1\n")
    data = project.write("data.bin", "1234")
    places = []
    for change in (
        lambda: None,
        lambda: project.write("config.yaml", "lr: 0.2\n"),
        lambda: project.write("new.py", ""),
        lambda: data.write_text("12345"),
        lambda: os.utime(data, (1, 1)),
        lambda: counted(project, "x = 1"),
    ):
        change()
        runner = project.runner()
        places.append(runner.place(Trial(runner.target)))
    assert len(set(places)) == len(places)
    os.utime(project.folder / "config.yaml", (1, 1))  # of sources, only the content counts
    assert project.runner().place(Trial(runner.target)) == places[-1]
    project.runner().run([Trial(runner.target)])
    assert len(marks.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": 5, "sta', "[]", "1", "null", '{"format": 5}', '{"format": 0}']
)
def test_half_an_outcome_is_ignored(text: str, project: Project) -> None:
    assert from_json(text) is None


@pytest.mark.parametrize("content", [b'{"format": 5, "status": "fin', b"\xff\xfe\x00"])
def test_damaged_outcome_is_run_again(content: bytes, project: Project) -> None:
    marks = counted(project)
    runner = project.runner()
    trial = Trial(runner.target)
    (first,) = runner.run([trial])
    (runner.place(trial) / "outcome.json").write_bytes(content)
    (second,) = runner.run([trial])
    assert len(marks.read_text().splitlines()) == 2
    assert (second.status, second.series) == (first.status, first.series)


def test_outcome_as_json() -> None:
    full = Outcome(
        "finished", 3, 1.5, 0, "x", {"training:loss": [[1, float("nan")], [2, float("inf")]]}, ("D1",), "é\udc80", "r", "p", 2,
        ("n",), ("f",),
    )  # fmt: skip
    read = from_json(to_json(full))
    assert read is not None
    assert repr(read) == repr(full)  # nan is not equal to itself
    data = {**json.loads(to_json(full)), "of a later version": 1}
    assert from_json(json.dumps(data)) is not None


def test_what_depends_on_limits_is_tried_again(project: Project) -> None:
    project.write("train.py", "import time\ntime.sleep(1.5)\nprint('acc 1')\n")
    runner = project.runner()
    (short,) = runner.run([Trial(runner.target, limits=Limits(seconds=0.5))])
    assert short.status == TIMED_OUT
    (longer,) = runner.run([Trial(runner.target, limits=Limits(seconds=200))])
    assert longer.status == FINISHED
    (known,) = runner.run([Trial(runner.target, limits=Limits(seconds=0.5))])
    assert known == longer


def test_trials_kept_inside_the_users_folder(project: Project) -> None:
    """Wherever: they are no part of the program, neither in copies of it nor for what it is known by."""
    project.write("train.py", "import os\nprint(sorted(os.listdir('.')))\n")
    for _ in range(2):
        runner = project.runner(trials=project.folder / "out" / "trials")
        outcome = runner.run([Trial(runner.target)])[0]
        assert outcome.output in ("['train.py']", "['out', 'train.py']")
    assert runner.used.cached == 1


def test_bad_pattern_is_told_before_anything_runs(project: Project) -> None:
    marks = counted(project)
    runner = project.runner()
    with pytest.raises(UsageError, match="regular expression"):
        runner.run([Trial(runner.target, pattern="acc (")])
    assert not marks.exists()


DRIVER = """\
import sys
from pathlib import Path
from netmend.trials.local import LocalExecutor
from netmend.trials.runner import Runner
from netmend.trials.trial import Target, Trial

folder = sys.argv[1]
targets = [Target("train.py", (str(number),), False, folder) for number in range(6)]
runner = Runner(targets[0], Path(folder) / ".netmend" / "trials", LocalExecutor(2))
runner.run([Trial(target) for target in targets])
"""


def test_killed_driver(project: Project) -> None:
    """What had ended is not run again; what was running ends with the driver."""
    marks = counted(project, "import os, time\nprint('process', os.getpid())\ntime.sleep(1.0)")
    trials = project.folder / ".netmend" / "trials"
    driver = subprocess.Popen([sys.executable, "-c", textwrap.dedent(DRIVER), str(project.folder)])
    try:
        while len(list(trials.glob("*/outcome.json"))) < 2:
            assert driver.poll() is None
            time.sleep(0.05)
        time.sleep(0.3)  # so that others are under way
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    running = [read_tail(tail) for tail in trials.glob("*/tail")]
    assert all(is_gone(int(text.split()[1])) for text in running if text)
    ended = {_arguments(place)[0] for place in trials.glob("*/outcome.json")}
    targets = [Target("train.py", (str(number),), False, str(project.folder)) for number in range(6)]
    runner = project.runner()
    outcomes = runner.run([Trial(target) for target in targets])
    assert all(outcome.status == FINISHED for outcome in outcomes)
    starts = Counter(line.rstrip(".") for line in marks.read_text().splitlines())
    assert {starts[number] for number in ended} == {1}
    assert sum(starts.values()) <= len(targets) + 2  # two were running
    assert runner.used.cached >= len(ended)


def _arguments(outcome: Path) -> list[str]:
    found: list[str] = json.loads((outcome.parent / "trial.json").read_text())["trial"]["target"]["arguments"]
    return found
