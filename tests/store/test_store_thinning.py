"""Thinning: long runs stay small, and what matters stays."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netmend.store import Limits, RunWriter, read_trace
from netmend.store.thinning import kept, near
from netmend.vocabulary import BatchPrint, Call, Event, RunFact, Trace

SMALL = Limits(step_rows=400, rows=200, spans=80, patterns=20, batches=120, head=20)
RUN = RunFact("r", "train.py", status="finished")


def steps_of(trace: Trace, kind: str, component: str = "c") -> set[int]:
    return set(trace.table(kind, component).steps.tolist())


def record(path: Path, steps: int, limits: Limits, events: dict[int, str], flush_every: int = 50) -> Trace:
    writer = RunWriter.create(path, RUN, limits=limits)
    for step in range(steps):
        writer.row("step", "c", step, (float(step),))
        writer.row("gradient", "c", step, (0.0, float(step)))
        if step in events:
            writer.event(Event(step, events[step], "something happened"))
        if step % flush_every == 0:
            writer.flush()
    writer.close()
    return read_trace(path)


def test_a_long_table_is_bounded_dense_at_both_ends_and_covered_between(tmp_path: Path) -> None:
    trace = record(tmp_path / "r", 20_000, SMALL, {})
    for kind, limit in (("step", 400), ("gradient", 200)):
        steps = np.array(sorted(steps_of(trace, kind)))
        assert limit // 2 < len(steps) <= limit + 50  # a flush may bring fifty more before the next thinning
        assert steps[:20].tolist() == list(range(20))
        assert steps[-limit // 4 :].tolist() == list(range(20_000 - limit // 4, 20_000))
        # No stretch of the history is lost: the largest hole is a small part of the run.
        assert np.diff(steps).max() <= 20_000 / (limit // 8)
        values = trace.table(kind, "c").column("loss" if kind == "step" else "rms")
        assert values.tolist() == [float(step) for step in trace.table(kind, "c").steps]


@pytest.mark.parametrize("kind", ["nonfinite", "exception", "model changed"])
def test_rows_near_an_anomaly_stay(tmp_path: Path, kind: str) -> None:
    trace = record(tmp_path / "r", 5_000, SMALL, {1_000: kind, 3_000: "note"})
    assert set(range(975, 1_026)) <= steps_of(trace, "gradient")
    assert not set(range(2_975, 3_026)) <= steps_of(trace, "gradient")
    assert [event.step for event in trace.events] == [1_000, 3_000]


def test_a_table_that_anomalies_keep_large_is_still_bounded(tmp_path: Path) -> None:
    events = dict.fromkeys(range(0, 10000, 2), "nonfinite")
    trace = record(tmp_path / "r", 10_000, Limits(rows=200, anomalies=100), events)
    assert len(trace.events) == 5_000
    assert len(trace.table("gradient", "c")) < 1_000


def test_many_tables_share_a_total(tmp_path: Path) -> None:
    limits = Limits(rows=1_000, total_rows=2_000, fewest_rows=50)
    writer = RunWriter.create(tmp_path, RUN, limits=limits)
    for step in range(500):
        for component in range(20):
            writer.row("weight", str(component), step, (1.0,))
        if step % 10 == 0:
            writer.flush()
    writer.close()
    assert sum(map(len, read_trace(tmp_path).tables_of("weight"))) <= 2_000 + 20 * 10


def test_a_flood_of_tables_events_and_facts_is_counted(tmp_path: Path) -> None:
    limits = Limits(streams=10, events=10, facts=3)
    writer = RunWriter.create(tmp_path, RUN, limits=limits)
    for index in range(25):
        writer.row("weight", str(index), 1, (1.0,))
        writer.event(Event(index, "note", "again"))
        writer.fact(RunFact(f"another {index}", "x"))
    writer.close()
    trace = read_trace(tmp_path)
    assert len(list(trace.tables_of("weight"))) == 10
    assert len(trace.events) == 10
    text = " ".join(trace.run.missing)
    assert "15 rows" in text and "15 further events" in text and "23 further facts" in text


def test_patterns_and_spans_are_bounded_but_steps_stay_counted(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN, limits=SMALL)
    for step in range(3_000):
        writer.pattern(step, (Call("step", "ab"[step % 2]),))  # a GAN: the pattern changes at every step
        if step % 100 == 0:
            writer.flush()
    for step in range(3_000, 3_050):
        writer.pattern(step, (Call("step", str(step)),))
    writer.close()
    trace = read_trace(tmp_path)
    assert len(trace.patterns) == 20
    assert sum(len(pattern.spans) for pattern in trace.patterns) <= 80 + 100
    assert [pattern.steps for pattern in trace.patterns[:2]] == [1_500, 1_500]
    assert (0, 0) in trace.patterns[0].spans
    assert "32 steps followed further loop patterns" in " ".join(trace.run.missing)


def test_batches_are_bounded_by_number_and_by_bytes(tmp_path: Path) -> None:
    for name, limits in (("number", SMALL), ("bytes", Limits(batch_bytes=50_000))):
        writer = RunWriter.create(tmp_path / name, RUN, limits=limits)
        for index in range(2_000):
            writer.batch(BatchPrint(index // 100, "training", 50, hashes=tuple(range(index, index + 50))))
            if index % 20 == 0:
                writer.flush()
        writer.close()
        batches = read_trace(tmp_path / name).batches
        assert 20 < len(batches) <= 140
        firsts = [batch.hashes[0] for batch in batches]
        assert firsts == sorted(firsts)
        assert firsts[:10] == list(range(10))
        assert firsts[-5:] == list(range(1_995, 2_000))


def test_a_million_steps_stay_small(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    calls = (Call("zero_grad"), Call("forward"), Call("backward"), Call("step"))
    for step in range(1_000_000):
        writer.row("step", "adam", step, (1.0, 1.0, 0.01, 2.0, 1.0))
        writer.pattern(step, calls)
        if step == 400_000:
            writer.event(Event(step, "nonfinite", "the loss became NaN"))
        if step % 20 == 0 or abs(step - 400_000) <= 25:
            for parameter in ("a", "b", "c"):
                writer.row("gradient", parameter, step, (0.0, 1.0, 2.0, 3.0, 4.0, 5.0))
        if step % 2_000 == 0:
            writer.flush()
    writer.close()
    assert (tmp_path / "trace.sqlite").stat().st_size < 2_000_000
    trace = read_trace(tmp_path)
    assert len(trace.table("step", "adam")) <= 12_000
    assert set(range(399_975, 400_026)) <= steps_of(trace, "step", "adam") & steps_of(trace, "gradient", "b")
    assert trace.patterns[0].spans == ((0, 999_999),)


def test_a_thousand_steps_of_a_small_network_take_far_less_than_a_megabyte(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    for step in range(1_000):
        noise = math.sin(step) + 1e-9
        writer.row("step", "adam", step, (noise, 1.0, 0.01 * noise, 2.0 * noise, 1.0))
        if step % 20 == 0:
            for index in range(6):
                for kind, width in (("gradient", 6), ("weight", 7), ("update", 4)):
                    writer.row(kind, f"model.layer{index}.weight", step, [noise * k for k in range(width)])
            for index in range(5):
                writer.row("activation", f"model.layer{index}", step, [noise * k for k in range(10)])
        if step % 10 == 0:
            writer.flush()
            assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_000_000  # the log counts too
    writer.close()
    assert (tmp_path / "trace.sqlite").stat().st_size < 300_000


def test_freed_space_is_used_again(tmp_path: Path) -> None:
    record(tmp_path / "short", 5_000, SMALL, {})
    record(tmp_path / "long", 20_000, SMALL, {})
    pages = []
    for name in ("short", "long"):
        connection = sqlite3.connect(tmp_path / name / "trace.sqlite")
        pages.append(connection.execute("PRAGMA page_count").fetchone()[0])
        connection.close()
    assert pages[1] <= pages[0] * 1.5


@given(
    st.lists(st.integers(-1_000, 1_000_000), min_size=1, max_size=400).map(sorted),
    st.integers(8, 300),
    st.lists(st.integers(0, 1_000_000), max_size=5).map(sorted),
)
def test_kept_rows_obey_the_rules(steps: list[int], limit: int, anomalies: list[int]) -> None:
    limits = Limits()
    array, around = np.array(steps, dtype=np.int64), np.array(anomalies, dtype=np.int64)
    mask = kept(array, limit, around, limits)
    protected = np.array([any(abs(step - anomaly) <= 25 for anomaly in anomalies) for step in steps])
    assert (near(array, around, 25) == protected).all()
    assert mask[protected].all()
    assert mask[: min(50, limit // 4)].all()
    assert mask[-(limit // 4) :].all()
    assert np.count_nonzero(mask) <= 3 * limit // 4 + np.count_nonzero(protected) + 1
