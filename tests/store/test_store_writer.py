"""The writer: what it stores and how much of it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from netmend.errors import RunUnreadable
from netmend.store import Limits, RunWriter, read_trace, recorded_ranks
from netmend.vocabulary import BatchPrint, Call, EnvironmentFact, Event, ModelFact, Pattern, RunFact

RUN = RunFact("r", "train.py", started=5.0)


def test_the_run_is_readable_as_soon_as_it_is_created(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "deep" / "r", RUN)
    assert read_trace(tmp_path / "deep" / "r").run == RUN
    writer.close()


def test_an_existing_trace_is_not_written_over(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, RUN).close()
    with pytest.raises(FileExistsError):
        RunWriter.create(tmp_path, RUN)


def test_ranks_write_beside_each_other(tmp_path: Path) -> None:
    for rank in (0, 1):
        writer = RunWriter.create(tmp_path, RUN, rank=rank)
        writer.row("step", "", 1, (float(rank),))
        writer.close()
    assert read_trace(tmp_path, rank=1).table("step").column("loss").tolist() == [1.0]
    assert read_trace(tmp_path).table("step").column("loss").tolist() == [0.0]
    assert recorded_ranks(tmp_path) == [0, 1]
    assert recorded_ranks(tmp_path / "nowhere") == []
    with pytest.raises(RunUnreadable, match="no trace of rank 2"):
        read_trace(tmp_path, rank=2)


def test_a_later_fact_replaces_an_earlier_one_in_its_place(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.fact(ModelFact("b", "Net"))
    writer.fact(ModelFact("a", "Net"))
    writer.flush()
    writer.fact(ModelFact("b", "Better"))
    writer.fact(EnvironmentFact(python="3.12"))
    writer.fact(RunFact("r", "train.py", status="finished"))
    writer.close()
    trace = read_trace(tmp_path)
    assert [(model.name, model.kind) for model in trace.models] == [("b", "Better"), ("a", "Net")]
    assert trace.run.status == "finished" and trace.environment.python == "3.12"


def test_short_rows_are_filled_and_long_ones_refused(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("clip", "adam", 3, [0.5])
    with pytest.raises(ValueError, match="a row of 'clip' has 2 values, not 3"):
        writer.row("clip", "adam", 3, [1.0, 2.0, 3.0])
    writer.close()
    table = read_trace(tmp_path).table("clip", "adam")
    assert table.known("norm")[1].tolist() == [0.5]
    assert len(table.known("limit")[1]) == 0


def test_a_row_is_kept_as_it_was_given(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    values = [1.0, 2.0]
    writer.row("clip", "adam", 3, values)
    values[0] = 99.0
    writer.close()
    assert read_trace(tmp_path).table("clip", "adam").column("norm").tolist() == [1.0]


def test_single_precision_never_turns_finite_into_infinite(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("clip", "adam", 1, (1e300, -1e300))
    writer.row("clip", "adam", 2, (float("inf"), float("-inf")))
    writer.row("step", "", 1, (1e300,))
    writer.close()
    trace = read_trace(tmp_path)
    norms = trace.table("clip", "adam").column("norm").tolist()
    assert 3e38 < norms[0] < 4e38 and norms[1] == float("inf")
    assert trace.table("step").column("loss").tolist() == [1e300]


def test_equal_patterns_share_one_entry(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    a, b = (Call("zero_grad"), Call("step")), (Call("step"),)
    for step, calls in enumerate([a, a, b, a, a]):
        writer.pattern(step, tuple(calls))
        writer.flush()
    writer.pattern(9, a)
    writer.close()
    assert read_trace(tmp_path).patterns == (
        Pattern(a, ((0, 1), (3, 4), (9, 9))),
        Pattern(b, ((2, 2),)),
    )


def test_names_that_are_not_utf8_come_back(tmp_path: Path) -> None:
    name = "loss@caf\udce9.py:3 \0 ü"
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("progress", name, 1, (0.5,))
    writer.fact(ModelFact(name, "Net"))
    writer.close()
    trace = read_trace(tmp_path)
    assert ("progress", name) in trace.tables
    assert trace.get(ModelFact, name) == ModelFact(name, "Net")


def test_unsigned_hashes_stay_distinct(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.batch(BatchPrint(1, "training", 3, hashes=(2**64 - 1, 5, 2**63)))
    writer.close()
    assert read_trace(tmp_path).batches[0].hashes == (-1, 5, -(2**63))


def test_pending_counts_what_is_not_on_disk(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    assert writer.pending == 0
    writer.row("step", "", 1, (1.0,))
    writer.event(Event(1, "note", "m"))
    writer.batch(BatchPrint(1, "training", 1))
    writer.pattern(1, (Call("step"),))
    writer.fact(ModelFact("m", "Net"))
    assert writer.pending == 5
    assert read_trace(tmp_path).events == ()
    writer.flush()
    assert writer.pending == 0
    assert len(read_trace(tmp_path).events) == 1
    writer.close()


def test_a_full_buffer_counts_instead_of_growing(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN, limits=Limits(pending=10, pending_batches=2))
    for step in range(30):
        writer.row("step", "", step, (1.0,))
        writer.batch(BatchPrint(step, "training", 1))
    assert writer.pending == 12
    writer.close()
    trace = read_trace(tmp_path)
    assert len(trace.table("step")) == 10
    assert any("20 rows" in sentence for sentence in trace.run.missing)
    assert any("28 batches" in sentence for sentence in trace.run.missing)


def test_a_finished_run_is_a_single_file_and_closing_twice_is_fine(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("step", "", 1, (1.0,))
    writer.close()
    writer.close()
    writer.row("step", "", 2, (1.0,))
    writer.event(Event(1, "note", "too late"))
    writer.flush()
    assert writer.pending == 0
    assert [file.name for file in tmp_path.iterdir()] == ["trace.sqlite"]


def test_a_reader_in_the_way_does_not_keep_the_run_from_closing(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("step", "", 1, (1.0,))
    writer.flush()
    reader = sqlite3.connect(tmp_path / "trace.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM blocks").fetchone()
    writer.row("step", "", 2, (1.0,))
    writer.close()
    assert len(read_trace(tmp_path).table("step")) == 2
    reader.close()
    assert len(read_trace(tmp_path).table("step")) == 2


def test_rows_may_come_from_several_threads_while_another_flushes(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)

    def feed(name: str) -> None:
        for step in range(5_000):
            writer.row("step", name, step, (float(step),))

    threads = [threading.Thread(target=feed, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        writer.flush()
    writer.close()
    trace = read_trace(tmp_path)
    assert all(trace.table("step", name).steps.tolist() == list(range(5_000)) for name in "abc")
