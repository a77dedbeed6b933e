"""The reader: live runs, killed runs, read-only places, and files that are not what they should be."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from netmend.errors import RunUnreadable
from netmend.store import RunWriter, read_trace
from netmend.store.process import identity, is_gone
from netmend.vocabulary import Call, Event, RunFact, Trace

RUN = RunFact("r", "train.py", started=5.0)
WRITE_FOREVER = """
    import sys
    from pathlib import Path
    from netmend.store import RunWriter
    from netmend.vocabulary import Call, RunFact
    writer = RunWriter.create(Path(sys.argv[1]), RunFact("r", "t"))
    step = 0
    while True:
        step += 1
        writer.row("step", "", step, (float(step),))
        writer.pattern(step, (Call("step", str(step % 3)),))
        if step % 7 == 0:
            writer.flush()
            sys.stdout.write(f"{step}\\n")
            sys.stdout.flush()
"""


def stored(directory: Path, steps: int = 3) -> Path:
    writer = RunWriter.create(directory, RunFact("r", "train.py", status="finished"))
    for step in range(steps):
        writer.row("step", "", step, (float(step),))
        writer.pattern(step, (Call("step"),))
    writer.event(Event(1, "note", "m"))
    writer.close()
    return directory / "trace.sqlite"


def execute(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def problem(directory: Path) -> str:
    with pytest.raises(RunUnreadable) as caught:
        read_trace(directory)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("lines", [0, 1, 40, 400])
def test_a_killed_run_holds_everything_up_to_the_last_flush(tmp_path: Path, lines: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITE_FOREVER), str(tmp_path / "r")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    flushed = [int(process.stdout.readline()) for _ in range(lines)]
    if lines == 0:
        while not (tmp_path / "r" / "trace.sqlite").exists():
            time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    flushed += [int(line) for line in process.stdout.read().splitlines() if line]
    process.wait()
    process.stdout.close()
    try:
        trace = read_trace(tmp_path / "r")
    except RunUnreadable as error:
        assert not flushed and "recording ended before anything was written" in str(error)
        return
    steps = trace.table("step").steps.tolist()
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= max(flushed, default=0) > len(steps) - 8
    assert sum(pattern.steps for pattern in trace.patterns) == len(steps)
    if trace.run.name:
        assert trace.run.status == "killed"


def test_a_live_run_can_be_read_again_and_again(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    for step in range(300):
        writer.row("step", "", step, (1.0,))
        writer.flush()
        if step % 50 == 0:
            trace = read_trace(tmp_path)
            assert len(trace.table("step")) == step + 1
            assert trace.run.status == "running"
    writer.close()


def test_reading_does_not_change_the_file(tmp_path: Path) -> None:
    file = stored(tmp_path)
    before = file.read_bytes()
    read_trace(tmp_path)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["trace.sqlite"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs Unix permissions")
@pytest.mark.parametrize("end", ["closed", "killed", "killed without index"])
def test_a_run_in_a_read_only_directory_is_readable(tmp_path: Path, end: str) -> None:
    # In a process of its own, because an administrator may write anywhere and has to become somebody else first.
    code = """
        import os, sys
        from pathlib import Path
        from netmend.store import RunWriter, read_trace
        from netmend.vocabulary import RunFact
        folder, end = Path(sys.argv[1]), sys.argv[2]
        if os.fork() == 0:
            writer = RunWriter.create(folder, RunFact("r", "t"))
            writer.row("step", "", 1, (0.5,))
            writer.flush()
            if end == "closed":
                writer.close()
            os._exit(0)
        os.wait()
        if end == "killed without index":
            (folder / "trace.sqlite-shm").unlink()
        names = sorted(path.name for path in folder.iterdir())
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            (folder / "probe").touch()
        except PermissionError:
            pass
        else:
            raise AssertionError("the directory is not read-only")
        trace = read_trace(folder)
        assert trace.table("step").column("loss").tolist() == [0.5], trace
        assert sorted(path.name for path in folder.iterdir()) == names
    """
    # Not below tmp_path, whose parents only their owner may enter.
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / "run"
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(folder), end],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr


def test_status_tells_living_from_gone(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RUN)
    assert read_trace(tmp_path).run.status == "running"
    writer.close()
    finished = subprocess.Popen([sys.executable, "-c", ""])
    finished.wait()
    execute(tmp_path / "trace.sqlite", f"UPDATE meta SET value = '{finished.pid}' WHERE key = 'pid'")
    assert read_trace(tmp_path).run.status == "killed"
    execute(tmp_path / "trace.sqlite", "UPDATE meta SET value = 'another machine' WHERE key = 'host'")
    assert read_trace(tmp_path).run.status == "running"  # nobody can tell from here


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_process_number_that_was_used_again_is_noticed() -> None:
    me = identity()
    assert not is_gone(me)
    assert is_gone(me | {"process_start": "1 another boot"})
    assert not is_gone(me | {"process_start": ""})
    assert not is_gone({})
    assert not is_gone(me | {"pid": "nonsense"})


def test_a_zombie_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    record = identity() | {"pid": str(process.pid), "process_start": "something"}
    assert process.stdin is not None
    process.stdin.close()
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, but not yet collected
        assert is_gone(record)
    process.wait()
    assert is_gone(record) or sys.platform == "win32"


def test_missing_trace(tmp_path: Path) -> None:
    assert "holds no trace (trace.sqlite is missing)" in problem(tmp_path)
    assert "netmend runs" in problem(tmp_path / "nowhere")


def test_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "trace.sqlite").write_bytes(b"import torch\n" * 1_000)
    assert "damaged (file is not a database)" in problem(tmp_path)


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "trace.sqlite").touch()
    assert "recording ended before anything was written" in problem(tmp_path)


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    execute(tmp_path / "trace.sqlite", "CREATE TABLE people (name)")
    assert "not a netmend trace" in problem(tmp_path)


def test_a_newer_format(tmp_path: Path) -> None:
    execute(stored(tmp_path), "PRAGMA user_version = 7")
    message = problem(tmp_path)
    assert "written by a newer netmend (format 7, this one reads up to 1)" in message
    assert "upgrade: pip install -U netmend" in message


def test_a_later_minor_version_opens(tmp_path: Path) -> None:
    execute(
        stored(tmp_path),
        "INSERT INTO facts VALUES (90, 'prophecy', 'x', '{\"name\": \"x\"}')",
        "UPDATE facts SET json = json_set(json, '$.invented', 1) WHERE kind = 'run'",
        "CREATE TABLE inventions (a)",
        "INSERT INTO kinds VALUES (90, 'spectrum', '[\"low\", \"high\"]', '<f4')",
    )
    trace = read_trace(tmp_path)
    assert trace.run.script == "train.py" and len(trace.table("step")) == 3


def test_columns_of_an_older_version_open(tmp_path: Path) -> None:
    file = stored(tmp_path)
    execute(file, 'UPDATE kinds SET columns = \'["loss", "a", "b", "c", "d"]\'')
    table = read_trace(tmp_path).table("step")
    assert table.column("loss").tolist() == [0.0, 1.0, 2.0]
    assert len(table.known("gradient_norm")[1]) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET json = '{'",
        "UPDATE facts SET json = 5",
        "UPDATE facts SET json = '{\"name\": 1}'",
        "UPDATE blocks SET data = x'00'",
        "UPDATE blocks SET count = count + 1",
        "UPDATE blocks SET count = -1",
        "UPDATE blocks SET streams = x'ffffffff'",
        "UPDATE blocks SET steps = 'text'",
        "UPDATE kinds SET columns = '[1]'",
        "UPDATE kinds SET number = '|O8'",
        "UPDATE kinds SET number = 'nonsense'",
        "UPDATE events SET json = '[]'",
        "DELETE FROM streams",
        "DROP TABLE spans",
    ],
)
def test_wrong_contents_are_unreadable_not_a_crash(tmp_path: Path, statement: str) -> None:
    execute(stored(tmp_path), statement)
    message = problem(tmp_path)
    assert "damaged" in message and ".recover" in message


def test_a_truncated_file(tmp_path: Path) -> None:
    file = stored(tmp_path, steps=5_000)
    data = file.read_bytes()
    for length in range(0, len(data), len(data) // 25):
        file.write_bytes(data[:length])
        try:
            assert isinstance(read_trace(tmp_path), Trace)
        except RunUnreadable:
            continue


def test_the_documented_ways_to_read_a_run_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/format.md promises them to people who read a run without netmend."""
    text = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
    file = stored(tmp_path)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], scope)
    rows = scope["tables"]["step", ""]
    assert [(step, row["loss"]) for step, row in rows] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    connection = sqlite3.connect(file)
    queries = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)[0].strip().splitlines()
    answers = [connection.execute(query).fetchall() for query in queries]
    connection.close()
    assert answers == [[("finished", 0)], [], [(1, "note", "m")], [(0, 3)]]
