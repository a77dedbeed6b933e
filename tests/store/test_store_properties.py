"""Whatever is written comes back; whatever is broken is said to be broken."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from netmend.errors import RunUnreadable
from netmend.store import RunWriter, read_trace
from netmend.store.blobs import DOUBLE_KINDS
from netmend.vocabulary import (
    COLUMNS,
    BatchPrint,
    Call,
    Event,
    Fact,
    LossFact,
    ModelFact,
    OperandFact,
    OptimizerFact,
    ParameterFact,
    RunFact,
    Site,
    Statistics,
    TargetFact,
    Trace,
)
from netmend.vocabulary.facts import GroupFact

names = st.text(max_size=8)
floats = st.floats(allow_nan=False)
singles = st.floats(allow_nan=False, width=32)
sites = st.none() | st.builds(Site, names, st.integers(0, 9999), st.none() | st.integers(0, 99))
plain = st.none() | st.booleans() | st.integers() | floats | names
free = st.dictionaries(names, plain | st.lists(plain, max_size=3).map(tuple), max_size=3)
shapes = st.lists(st.integers(0, 999), max_size=4).map(tuple)
maybe = st.none() | floats

facts = st.one_of(
    st.builds(ModelFact, names, names, created=sites, input_shapes=st.lists(shapes, max_size=2).map(tuple)),
    st.builds(
        ParameterFact,
        names,
        shape=shapes,
        initial=st.builds(Statistics, maybe, maybe),
        symmetric_share=maybe,
    ),
    st.builds(
        OptimizerFact, names, names, st.lists(st.builds(GroupFact, free), max_size=2).map(tuple), sites, sites
    ),
    st.builds(LossFact, names, settings=free, operands=st.tuples(st.builds(OperandFact, names, shapes))),
    st.builds(TargetFact, names, class_counts=st.dictionaries(names, st.integers(0, 99), max_size=3)),
)
calls = st.lists(st.builds(Call, st.sampled_from(["forward", "step"]), names, site=sites), max_size=3).map(
    tuple
)
events = st.builds(
    Event, st.integers(0, 2**62), st.sampled_from(["note", "phase"]), names, names, sites, free
)
batches = st.builds(
    BatchPrint,
    st.integers(0, 2**62),
    st.sampled_from(["training", "evaluation"]),
    st.integers(0, 99),
    hashes=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(tuple),
    features=st.lists(st.tuples(singles, singles, singles, singles), max_size=3).map(tuple),
    labels=st.dictionaries(names, st.integers(0, 99), max_size=2),
    target_mean=maybe,
)
rows = st.sampled_from(sorted(COLUMNS)).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        names,
        st.integers(-(2**62), 2**62),
        st.lists(st.floats(width=64 if kind in DOUBLE_KINDS else 32), max_size=len(COLUMNS[kind])),
    )
)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("fact"), facts),
        st.tuples(st.just("row"), rows),
        st.tuples(st.just("pattern"), calls),
        st.tuples(st.just("skip"), st.integers(1, 3)),
        st.tuples(st.just("event"), events),
        st.tuples(st.just("batch"), batches),
        st.tuples(st.just("flush"), st.none()),
    ),
    max_size=40,
)
RUN = RunFact("r", "train.py")
Action = tuple[str, Any]


class Model:
    """What a reader should see: the same actions on plain Python values."""

    def __init__(self) -> None:
        self.facts: dict[tuple[type[Any], str], Fact] = {(RunFact, "r"): RUN}
        self.rows: dict[tuple[str, str], list[tuple[int, list[float]]]] = {}
        self.patterns: dict[tuple[Call, ...], list[int]] = {}
        self.events: list[Event] = []
        self.batches: list[BatchPrint] = []

    def check(self, trace: Trace) -> None:
        read = [fact for named in trace.facts.values() for fact in named.values()]
        by_kind = sorted(
            self.facts.values(),
            key=lambda fact: list(dict.fromkeys(map(type, self.facts.values()))).index(type(fact)),
        )
        assert read == by_kind
        assert set(trace.tables) == set(self.rows)
        for key, expected in self.rows.items():
            ordered = sorted(expected, key=lambda row: row[0])
            table = trace.tables[key]
            assert table.steps.tolist() == [step for step, _ in ordered]
            for index, (_, values) in enumerate(ordered):
                full = values + [float("nan")] * (len(table.columns) - len(values))
                np.testing.assert_array_equal(table.values[index], full)
        assert [pattern.calls for pattern in trace.patterns] == list(self.patterns)
        for pattern, steps in zip(trace.patterns, self.patterns.values(), strict=True):
            assert [step for first, last in pattern.spans for step in range(first, last + 1)] == steps
        assert list(trace.events) == self.events
        assert list(trace.batches) == self.batches


def perform(writer: RunWriter, model: Model, sequence: list[Action]) -> None:
    step = 0
    for action, value in sequence:
        if action == "fact":
            writer.fact(value)
            model.facts[type(value), value.name] = value
        elif action == "row":
            kind, component, at, values = value
            writer.row(kind, component, at, values)
            model.rows.setdefault((kind, component), []).append((at, values))
        elif action == "pattern":
            writer.pattern(step, value)
            model.patterns.setdefault(value, []).append(step)
            step += 1
        elif action == "skip":
            step += value
        elif action == "event":
            writer.event(value)
            model.events.append(value)
        elif action == "batch":
            writer.batch(value)
            model.batches.append(value)
        else:
            writer.flush()


@settings(deadline=None, max_examples=60)
@given(actions)
def test_what_is_written_comes_back(sequence: list[Action]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer, model = RunWriter.create(Path(folder), RUN), Model()
        perform(writer, model, sequence)
        writer.close()
        model.check(read_trace(Path(folder)))


@settings(deadline=None, max_examples=40)
@given(actions, actions)
def test_a_run_cut_off_holds_everything_up_to_the_last_flush(
    before: list[Action], after: list[Action]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run, copy = Path(folder) / "run", Path(folder) / "copy"
        writer, model = RunWriter.create(run, RUN), Model()
        perform(writer, model, before)
        writer.flush()
        perform(writer, Model(), [action for action in after if action[0] != "flush"])
        copy.mkdir()
        for name in ("trace.sqlite", "trace.sqlite-wal"):  # what a crash leaves, the shared memory gone
            shutil.copy(run / name, copy / name)
        writer.close()
        trace = read_trace(copy)
        model.check(trace)


def sample_run(folder: Path, closed: bool) -> None:
    writer = RunWriter.create(folder, replace(RUN, status="finished"))
    for step in range(300):
        writer.row("step", "adam", step, (float(step),))
        writer.row("gradient", "w", step, (float(step),))
        writer.pattern(step, (Call("step", str(step % 5)),))
        writer.fact(ModelFact(f"m{step % 30}", "Net", created=Site("t.py", step)))
        writer.batch(BatchPrint(step, "training", 2, hashes=(step, step + 1)))
        writer.event(Event(step, "note", "m", detail={"a": (1, 2)}))
        if step % 100 == 0:
            writer.flush()
    writer.flush()
    if closed:
        writer.close()
    else:
        for name in ("trace.sqlite", "trace.sqlite-wal"):
            (folder / f"saved-{name}").write_bytes((folder / name).read_bytes())
        writer.close()
        for name in ("trace.sqlite", "trace.sqlite-wal"):
            (folder / f"saved-{name}").replace(folder / name)


SAMPLES: dict[bool, dict[str, bytes]] = {}


def sample_files(closed: bool) -> dict[str, bytes]:
    if closed not in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            sample_run(Path(folder), closed)
            SAMPLES[closed] = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return SAMPLES[closed]


@settings(deadline=None, max_examples=250)
@given(st.data(), st.booleans())
def test_damage_gives_a_trace_or_one_clear_line(data: st.DataObject, closed: bool) -> None:
    files = {name: bytearray(content) for name, content in sample_files(closed).items()}
    content = files[data.draw(st.sampled_from(sorted(files)))]
    # The first pages hold the schema and the tables' roots, where damage does most.
    places = (
        st.integers(0, len(content) - 1) | st.integers(0, min(len(content), 60_000) - 1) | st.integers(0, 200)
    )
    for place in data.draw(st.lists(places, min_size=1, max_size=30)):
        content[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    with tempfile.TemporaryDirectory() as folder:
        for name, damaged in files.items():
            (Path(folder) / name).write_bytes(damaged)
        try:
            assert isinstance(read_trace(Path(folder)), Trace)
        except RunUnreadable as error:
            assert "\n" not in str(error)
