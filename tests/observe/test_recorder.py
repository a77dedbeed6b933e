"""Recorder: what adapters report is kept, steps are counted, and failures are told instead of raised."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from netmend.observe.recorder import Recorder, open_writer
from netmend.observe.schedule import FULL
from netmend.store import RunWriter, read_trace
from netmend.vocabulary import Event, OptimizerFact, RunFact


def recorder_in(folder: Path, every: int | None = None) -> Recorder:
    run = RunFact(name="r", script="train.py")
    writer, problem = open_writer(folder / "r", run, 0)
    assert problem is None
    return Recorder(writer, run, every=every)


def test_what_is_reported_can_be_read(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.fact(OptimizerFact("optimizer", "SGD"))
    recorder.row("rate", "optimizer[0]", 0, (0.5,))
    recorder.event(Event(0, "note", "hello"))
    recorder.patterns.note("step", "optimizer")
    recorder.patterns.close(0)
    recorder.end_step(0)
    run = recorder.close("finished", exit_code=0)
    trace = read_trace(tmp_path / "r")
    assert (run.status, run.exit_code, run.steps) == ("finished", 0, 1)
    assert trace.run == run and trace.run.ended is not None
    assert [fact.kind for fact in trace.optimizers] == ["SGD"]
    assert trace.series("rate", "optimizer[0]", "rate")[1].tolist() == [0.5]
    assert [event.message for event in trace.events] == ["hello"]
    assert [call.what for call in trace.patterns[0].calls] == ["step"]


def test_steps_by_level_are_counted(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path, every=3)
    levels = [recorder.level]
    for step in range(9):
        levels.append(recorder.end_step(step))
    assert [index for index, level in enumerate(levels) if level == FULL] == [0, 3, 6, 9]
    run = recorder.close("finished")
    assert (run.steps, run.full_steps, run.light_steps) == (9, 3, 0)


def test_progress_is_told_after_every_step(tmp_path: Path) -> None:
    seen: list[tuple[int, float | None]] = []
    run = RunFact(name="r", script="train.py")
    recorder = Recorder(None, run, progress=lambda steps, loss, overhead: seen.append((steps, loss)))
    for step in range(3):
        recorder.last_loss = 1.0 / (step + 1)
        recorder.end_step(step)
    assert seen == [(1, 1.0), (2, 0.5), (3, 1.0 / 3)]


def test_a_part_that_fails_is_told_once(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    for _ in range(3):
        recorder.switch_off("DataLoaders", ValueError("odd sampler"))
    recorder.close("finished")
    trace = read_trace(tmp_path / "r")
    (sentence,) = trace.run.missing
    assert "DataLoaders" in sentence and "odd sampler" in sentence
    assert [event.kind for event in trace.events] == ["part switched off"]


def test_missing_sentences_are_kept_once_and_in_order(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    for sentence in ("b", "a", "b"):
        recorder.missing(sentence)
    assert recorder.close("finished").missing == ("b", "a")


def test_a_writer_that_fails_does_not_end_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = recorder_in(tmp_path)

    def full(self: RunWriter) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(RunWriter, "flush", full)
    recorder.flush()
    assert not recorder.storing
    recorder.row("rate", "optimizer[0]", 1, (0.5,))
    recorder.fact(OptimizerFact("optimizer", "SGD"))
    recorder.end_step(0)
    run = recorder.close("finished")
    assert any("No space left" in sentence for sentence in run.missing)


def test_nothing_is_needed_to_record_nowhere() -> None:
    recorder = Recorder(None, RunFact(name="r", script="train.py"))
    recorder.row("rate", "optimizer[0]", 0, (0.5,))
    recorder.end_step(0)
    recorder.flush()
    assert recorder.close("failed", exception="ValueError: x").exception == "ValueError: x"


def test_a_forked_child_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = recorder_in(tmp_path)
    recorder.flush()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    recorder.event(Event(0, "note", "from the child"))
    recorder.flush()
    monkeypatch.undo()
    assert not read_trace(tmp_path / "r").events


def test_a_place_that_cannot_be_written_is_a_reason_not_an_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    writer, problem = open_writer(blocked / "run", RunFact(name="r", script="train.py"), 0)
    assert writer is None and problem
