"""The writer when things go wrong: signals, forks, full disks, vanished directories."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from netmend.store import RunWriter, read_trace
from netmend.vocabulary import BatchPrint, Call, Event, RunFact

RUN = RunFact("r", "train.py", started=5.0)


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_signal_handler_may_close_in_the_middle_of_a_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("step", "", 1, (1.0,))
    write = writer._rows.write

    def interrupted(connection: sqlite3.Connection) -> None:
        write(connection)
        writer.close()

    monkeypatch.setattr(writer._rows, "write", interrupted)
    writer.flush()
    assert [file.name for file in tmp_path.iterdir()] == ["trace.sqlite"]
    assert len(read_trace(tmp_path).table("step")) == 1


def test_an_interrupt_just_after_the_commit_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("step", "", 1, (1.0,))
    writer.event(Event(1, "note", "m"))
    writer.batch(BatchPrint(1, "training", 1))
    writer.pattern(1, (Call("step"),))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer._rows, "settle", interrupt)
        with pytest.raises(KeyboardInterrupt):
            writer.flush()
    writer.row("step", "", 2, (1.0,))
    writer.close()
    trace = read_trace(tmp_path)
    assert trace.table("step").steps.tolist() == [1, 2]
    assert (len(trace.events), len(trace.batches), len(trace.patterns)) == (1, 1, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_run_alone(tmp_path: Path) -> None:
    code = """
        import gc, os, sys
        from pathlib import Path
        from netmend.store import RunWriter
        from netmend.vocabulary import *
        writer = RunWriter.create(Path(sys.argv[1]), RunFact("r", "t"))
        writer.row("step", "", 1, (1.0,))
        child = os.fork()
        if child == 0:
            writer.row("step", "", 2, (1.0,))
            writer.fact(ModelFact("child", "Net"))
            writer.event(Event(1, "note", "child"))
            writer.pattern(1, (Call("step"),))
            writer.batch(BatchPrint(1, "training", 1))
            assert writer.pending == 0
            writer.flush()
            writer.close()
            del writer
            gc.collect()
            sys.exit(0)  # an ordinary end, which tears the interpreter down
        assert os.waitpid(child, 0)[1] == 0
        writer.row("step", "", 3, (1.0,))
        writer.flush()
        writer.row("step", "", 4, (1.0,))
        writer.close()
    """
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    trace = read_trace(tmp_path)
    assert trace.table("step").steps.tolist() == [1, 3, 4]
    assert (trace.models, trace.events, trace.batches, trace.patterns) == ((), (), (), ())


def test_a_full_disk_raises_once_and_keeps_what_was_committed(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    writer.row("step", "", 1, (1.0,))
    writer.flush()
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    for step in range(2, 5_000):
        writer.row("step", "", step, (1.0,))
        writer.row("clip", "new", step, (1.0,))
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            writer.flush()
    writer.row("step", "", 5_000, (1.0,))
    assert read_trace(tmp_path).table("step").steps.tolist() == [1]
    with pytest.raises(sqlite3.OperationalError, match="full"):
        writer.close()
    writer.close()
    assert read_trace(tmp_path).table("step").steps.tolist() == [1]


def test_space_that_comes_back_is_used(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count = {pages}")
    for step in range(2_000):
        writer.row("step", "", step, (1.0,))
        writer.pattern(step, (Call("step", str(step % 3)),))
    writer.batch(BatchPrint(1, "training", 1))
    with pytest.raises(sqlite3.OperationalError):
        writer.flush()
    writer._connection.execute("PRAGMA max_page_count = 100000")
    writer.close()
    trace = read_trace(tmp_path)
    assert len(trace.table("step")) == 2_000
    assert [pattern.steps for pattern in trace.patterns] == [667, 667, 666]


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_a_file_that_may_not_grow_raises_an_error_of_the_disk(tmp_path: Path) -> None:
    code = """
        import resource, signal, sqlite3, sys
        from pathlib import Path
        from netmend.store import RunWriter
        from netmend.vocabulary import RunFact
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        writer = RunWriter.create(Path(sys.argv[1]), RunFact("r", "t"))
        writer.row("step", "", 1, (1.0,))
        writer.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        failures = 0
        for step in range(2, 40):
            for _ in range(1000):
                writer.row("step", "", step, (1.0,))
            try:
                writer.flush()
            except (sqlite3.Error, OSError):
                failures += 1
        assert failures, "the limit was never reached"
        try:
            writer.close()
        except (sqlite3.Error, OSError):
            pass
        writer.close()
    """
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_trace(tmp_path).table("step").steps[0] == 1


def test_a_vanished_directory_gives_an_error_of_the_disk_or_none(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "r", RUN)
    shutil.rmtree(tmp_path / "r")
    writer.row("step", "", 1, (1.0,))
    for action in (writer.flush, writer.close, writer.close):
        try:
            action()
        except (sqlite3.Error, OSError):
            continue


def test_a_directory_that_cannot_be_made_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError):
        RunWriter.create(tmp_path / "file" / "r", RUN)
