"""Exports, read back with the tools they are meant for."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netmend.errors import MissingExtra, UsageError
from netmend.export import FORMATS, export
from netmend.vocabulary import (
    BatchPrint,
    Call,
    Event,
    ModelFact,
    OptimizerFact,
    Pattern,
    RunFact,
    Site,
    Table,
    Trace,
)

NAN, INF = float("nan"), float("inf")
TRACE = Trace(
    facts={
        "run": {"r1": RunFact("r1", "train.py", started=100.0, seconds=10.0)},
        "model": {"net": ModelFact("net", "Net", created=Site("train.py", 3), input_shapes=((2, 3),))},
        "optimizer": {"caf\udce9": OptimizerFact("caf\udce9", "Adam")},
    },
    tables={
        ("step", ""): Table.of("step", "", {0: (2.0, 1.0), 10: (INF, 1.0), 20: (1e300,)}),
        ("clip", "adam"): Table.of("clip", "adam", {10: (NAN, 0.5)}),
        ("rate", "caf\udce9"): Table.of("rate", "caf\udce9", {10: (0.1,)}),
    },
    patterns=(Pattern((Call("step", site=Site("train.py", 9)),), ((0, 20),), 4),),
    events=(Event(10, "nonfinite", "the loss became infinite", detail={"value": INF}),),
    batches=(BatchPrint(0, "training", 2, hashes=(-1, 7), features=((0.0, 1.0, -1.0, 1.0),)),),
)
MEASURED = {
    ("step", "", "loss"): {0: 2.0, 10: INF, 20: 1e300},
    ("step", "", "backwards"): {0: 1.0, 10: 1.0},
    ("clip", "adam", "limit"): {10: 0.5},
    ("rate", "caf\\udce9", "rate"): {10: 0.1},
}


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_holds_the_whole_trace_in_the_documented_shape(tmp_path: Path) -> None:
    (path,) = export(TRACE, "json", tmp_path / "out.json")
    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert list(document) == ["schema", "netmend", "facts", "tables", "patterns", "events", "batches"]
    assert document["schema"] == 1
    assert document["facts"]["model"][0]["created"]["line"] == 3
    assert document["facts"]["model"][0]["input_shapes"] == [[2, 3]]
    step = document["tables"][0]
    assert (step["kind"], step["component"], step["columns"][0]) == ("step", "", "loss")
    assert step["steps"] == [0, 10, 20]
    assert [row[0] for row in step["values"]] == [2.0, "Infinity", 1e300]
    assert step["values"][2][1] is None
    (pattern,) = document["patterns"]
    assert pattern["spans"] == [[0, 20]] and pattern["more_steps"] == 4
    assert pattern["calls"][0]["what"] == "step"
    assert document["events"][0]["detail"] == {"value": {"$float": "Infinity"}}
    assert document["batches"][0]["hashes"] == [-1, 7]


def test_parquet_is_one_long_table_and_the_facts(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    series, facts = export(TRACE, "parquet", tmp_path / "out.parquet")
    assert (series.name, facts.name) == ("out.parquet", "out-facts.parquet")
    found: dict[Any, dict[int, float]] = defaultdict(dict)
    for row in parquet.read_table(series).to_pylist():
        found[row["kind"], row["component"], row["column"]][row["step"]] = row["value"]
    assert found == MEASURED
    rows = parquet.read_table(facts).to_pylist()
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("run", "r1"),
        ("model", "net"),
        ("optimizer", "caf\\udce9"),
    ]
    assert json.loads(rows[1]["json"])["kind"] == "Net"


def test_tensorboard_reads_every_curve(tmp_path: Path) -> None:
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    (path,) = export(TRACE, "tensorboard", tmp_path / "logs")
    assert path.parent == tmp_path / "logs"
    curves = loader.EventAccumulator(str(tmp_path / "logs"))
    curves.Reload()
    expected = {"/".join(filter(None, key)): values for key, values in MEASURED.items()}
    assert set(curves.Tags()["scalars"]) == set(expected)
    for tag, values in expected.items():
        events = curves.Scalars(tag)
        assert [event.step for event in events] == list(values)
        with np.errstate(over="ignore"):
            assert [event.value for event in events] == [np.float32(value) for value in values.values()]
    assert [event.wall_time for event in curves.Scalars("step/loss")] == [100.0, 105.0, 110.0]


@pytest.mark.parametrize("to", FORMATS)
def test_an_empty_trace_can_be_exported(tmp_path: Path, to: str) -> None:
    for path in export(Trace(), to, tmp_path / "out"):
        assert path.is_file()


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_is_written_over_unless_forced(tmp_path: Path, to: str) -> None:
    first = export(TRACE, to, tmp_path / "out")
    before = {path: path.read_bytes() for path in first}
    with pytest.raises(UsageError, match=r"exists already; choose another .* --force"):
        export(Trace(), to, tmp_path / "out")
    assert {path: path.read_bytes() for path in first} == before
    second = export(Trace(), to, tmp_path / "out", force=True)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(second)


@pytest.mark.parametrize(
    ("to", "names"), [("json", ["r1.json"]), ("parquet", ["r1.parquet", "r1-facts.parquet"])]
)
def test_in_a_directory_files_are_named_after_the_run(tmp_path: Path, to: str, names: list[str]) -> None:
    assert [path.name for path in export(TRACE, to, tmp_path)] == names


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("netmend.export.as_json.plain_table", fail)
    with pytest.raises(OSError, match="disk full"):
        export(TRACE, "json", tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_get_advice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean parquet"):
        export(TRACE, "parket", tmp_path)
    with pytest.raises(UsageError, match="choose one of: json, parquet, tensorboard"):
        export(TRACE, "xlsx", tmp_path)


def test_a_file_is_no_log_directory(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("")
    with pytest.raises(UsageError, match="needs a directory"):
        export(TRACE, "tensorboard", tmp_path / "logs")


@pytest.mark.parametrize(("to", "package"), [("parquet", "pyarrow"), ("tensorboard", "tensorboard")])
def test_a_missing_package_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, package: str
) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as caught:
        export(TRACE, to, tmp_path / "out")
    assert str(caught.value) == (
        f"exporting to {to} needs {package}; install it: pip install 'netmend[export]'"
    )
    assert list(tmp_path.iterdir()) == []


def test_exporting_does_not_import_torch(tmp_path: Path) -> None:
    code = """
        import sys
        sys.modules["torch"] = None  # importing it would now fail
        from pathlib import Path
        from netmend.export import FORMATS, export
        from netmend.vocabulary import Table, Trace
        trace = Trace(tables={("rate", "a"): Table.of("rate", "a", {1: (0.5,)})})
        for to in FORMATS:
            export(trace, to, Path(sys.argv[1]) / to)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
