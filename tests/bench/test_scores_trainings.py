"""Trainings of many programs through a stub executor: order, what is kept, interruption."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import launched
from bench.faults22.facts import Atom
from bench.faults22.programs import LayerPlace, Written
from bench.localise22 import judged
from bench.trainings import Training, Trainings, settled
from netmend.trials.trial import FAILED, FINISHED, LOST, Outcome, Trial


class Stub:
    """Trains nothing: the outcome names the program and the seed."""

    def __init__(self, jobs: int = 2) -> None:
        self.jobs = jobs
        self.ran: list[tuple[str, int]] = []
        self.closed = threading.Event()

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        name = Path(trial.target.directory).name
        self.ran.append((name, trial.seed))
        assert trial.overhead == 0.01  # as `netmend run`
        if name == "endless":
            while not stopping():
                time.sleep(0.005)
            return Outcome(LOST)
        return Outcome(FINISHED, seconds=1.0, series={"pattern": [[0, float(trial.seed)]]})

    def close(self) -> None:
        self.closed.set()


def training(folder: Path, name: str, seed: int = 0) -> Training:
    (folder / name).mkdir(exist_ok=True)
    entry = folder / name / "train.py"
    entry.write_text("pass\n")
    return Training(name, entry, folder / f"{name}-trials", seed, "final ([0-9]+)")


def value(one: Training, outcome: Outcome) -> tuple[str, float | None]:
    return one.name, outcome.last("pattern")


def test_answers_come_in_order_and_are_kept(tmp_path: Path) -> None:
    plan = [training(tmp_path, name, seed) for name in ("a", "b") for seed in range(3)]
    executor, told = Stub(), []
    work = Trainings(executor, value, lambda one, outcome, known: told.append((one.name, known)))
    expected = [(name, float(seed)) for name in ("a", "b") for seed in range(3)]
    assert work.run(plan) == expected
    assert sorted(executor.ran) == [(name, seed) for name in ("a", "b") for seed in range(3)]
    again = Stub()
    assert (
        Trainings(again, value, lambda one, outcome, known: told.append((one.name, known))).run(plan)
        == expected
    )
    assert again.ran == []
    assert [known for _, known in told] == [False] * 6 + [True] * 6


def test_an_interruption_ends_what_is_running_and_keeps_what_has_ended(tmp_path: Path) -> None:
    plan = [training(tmp_path, "a"), training(tmp_path, "endless"), training(tmp_path, "late")]
    executor = Stub(jobs=2)

    def judge(one: Training, outcome: Outcome) -> str:
        while ("endless", 0) not in executor.ran:
            time.sleep(0.005)
        raise KeyboardInterrupt  # while the other one is running

    with pytest.raises(KeyboardInterrupt):
        Trainings(executor, judge).run(plan)
    assert executor.closed.is_set()
    again = Stub()
    assert Trainings(again, value).run(plan[:1]) == [("a", 0.0)]
    assert again.ran == []


def test_files_that_are_written_again_unchanged_keep_their_dates(tmp_path: Path) -> None:
    def write(text: str) -> Callable[[Path], Path]:
        def put(folder: Path) -> Path:
            (folder / "data.bin").write_bytes(b"\0" * 100)
            (folder / "train.py").write_text(text)
            return folder / "train.py"

        return put

    folder = tmp_path / "program"
    entry = settled(write("first"), folder)
    assert entry == folder.resolve() / "train.py"
    before = (folder / "data.bin").stat().st_mtime_ns
    settled(write("first"), folder)
    assert (folder / "data.bin").stat().st_mtime_ns == before
    settled(write("second"), folder)
    assert entry.read_text() == "second"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program"]


def test_a_training_that_left_no_trace_answers_nothing() -> None:
    program = Written(Path("train.py"), {0: LayerPlace((1,), ("0",))}, "", True)
    run = judged(program, "buggy", 3, Outcome(FAILED, seconds=2.0, series={"pattern": [[1, 0.25]]}))
    assert (run.status, run.value, run.answer, run.told, run.seed) == (FAILED, 0.25, (), (), 3)
    assert run.answer == tuple[Atom, ...]()


def test_a_launched_program_is_tried_again_when_it_fails_and_read_when_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def run(entry: Path, folder: Path, seed: int, processes: int, seconds: float) -> Outcome:
        calls.append(processes)
        recorded = folder / "runs" / "one"
        if len(calls) > 1:
            recorded.mkdir(parents=True)
        return Outcome(FINISHED if len(calls) > 1 else FAILED, run=str(recorded) if len(calls) > 1 else "")

    monkeypatch.setattr(launched, "_run", run)
    entry = training(tmp_path, "a").entry
    outcome, known = launched.launched(entry, tmp_path / "trials", 0, 2, 60)
    assert (outcome.status, known, calls) == (FINISHED, False, [2, 2])
    assert launched.launched(entry, tmp_path / "trials", 0, 2, 60) == (outcome, True)
    entry.write_text("other\n")
    assert launched.launched(entry, tmp_path / "trials", 0, 2, 60)[1] is False
