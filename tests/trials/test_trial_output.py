"""The standard output of a trial."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from netmend.trials.measures import end_of, thinned
from netmend.trials.output import SIZE, Output, Tail, end_of_file, read_tail


def test_lines_carry_the_step_at_which_they_came() -> None:
    step = [0]
    output = Output(lambda: step[0])
    print("first", file=output)
    step[0] = 5
    print("sec", end="", file=output)
    print("ond", file=output)
    step[0] = 7
    output.write("a\rb\r\n\nunfinished")
    assert list(output.lines()) == [(0, "first"), (5, "second"), (7, "a"), (7, "b"), (7, "unfinished")]
    assert output.tail() == "first\nsecond\na\nb\nunfinished"


def test_what_is_seen_and_kept() -> None:
    seen: list[tuple[int, str]] = []
    kept: list[str] = []
    output = Output(lambda: 3, lambda step, line: seen.append((step, line)), kept.append)
    output.write("one\ntwo")
    output.write("\n")
    assert seen == [(3, "one"), (3, "two")]
    assert kept == ["one", "two"]


def test_output_stays_small() -> None:
    output = Output(lambda: 0)
    for number in range(30_000):
        output.write(f"line {number}\n")
    lines = [line for _, line in output.lines()]
    assert len(lines) == 22_000
    assert (lines[0], lines[1999], lines[2000], lines[-1]) == (
        "line 0",
        "line 1999",
        "line 10000",
        "line 29999",
    )
    assert len(output.tail()) <= 4000
    output.write("x" * 5_000_000 + " end\n")
    output.write("y" * 900_000)
    output.write("y" * 900_000)
    *_, long, last = (line for _, line in output.lines())
    assert len(long) <= 4000
    assert long.endswith("x end")
    assert len(last) == 4000


def test_it_is_like_a_real_standard_output() -> None:
    output = Output(lambda: 0)
    assert output.write("12345") == 5
    assert (output.encoding, output.isatty(), output.writable(), output.fileno()) == ("utf-8", False, True, 1)
    output.reconfigure(encoding="utf-8", line_buffering=True)
    output.close()
    output.writelines([" a\n", "b\n"])
    assert output.closed is False
    output.buffer.write("é\n".encode())
    wrapped = io.TextIOWrapper(output.buffer, encoding="utf-8")
    print("wrapped ü", file=wrapped)
    wrapped.flush()
    half = output.buffer
    half.write("ö".encode()[:1])
    half.write("ö".encode()[1:] + b"\n")
    assert [line for _, line in output.lines()] == ["12345 a", "b", "é", "wrapped ü", "ö"]
    assert hasattr(sys.stdout, "flush") and output.flush() is None


def test_forks_write_past_it(capfd: object) -> None:
    output = Output(lambda: 0)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        output.write("from the fork\n")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"from the fork\n"
    assert not list(output.lines())
    for end in (reading, writing):
        os.close(end)


def test_tail_survives_in_a_file(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "tail")
    assert read_tail(tmp_path / "tail") == ""
    tail.add("first")
    tail.add("zweite ü")
    assert read_tail(tmp_path / "tail") == "first\nzweite ü"
    for number in range(2000):
        tail.add(f"line {number}")
    text = read_tail(tmp_path / "tail")
    assert text.endswith("line 1998\nline 1999")
    assert SIZE - 20 < len(text) <= SIZE
    tail.add("x" * 10_000)
    assert set(read_tail(tmp_path / "tail")) == {"x"}
    assert read_tail(tmp_path / "none") == ""
    assert end_of_file(tmp_path / "none", 5) == ""
    (tmp_path / "some").write_text("1234567")
    assert end_of_file(tmp_path / "some", 3) == "567"


def test_series_stay_small_and_keep_their_end() -> None:
    points = [[float(step), float(step)] for step in range(5000)]
    few = thinned(points)
    assert len(few) <= 400
    assert few[0] == points[0]
    assert few[-200:] == points[-200:]
    assert thinned(points[:10]) == points[:10]
    assert end_of("printed:val acc", [[1, 0.5], [2, 0.75]]) == 0.75
    assert end_of("training:loss", [[float(step), float(step)] for step in range(1, 101)]) == 95.0
