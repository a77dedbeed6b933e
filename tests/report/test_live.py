"""The live status line: quiet, plain, and at the bottom of a real (pseudo) terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import termios
from collections.abc import Callable, Iterator

import pytest

from netmend.report.run.live import LiveStatus, status_text


class Clock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("netmend.report.run.live.time.monotonic", found)
    return found


class Terminal:
    """A pseudo terminal whose screen is followed well enough to know what stands where."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.master, slave = pty.openpty()
        self.stream = os.fdopen(slave, "w")
        self.resize(rows, columns)
        self.screen: dict[int, str] = {}
        self.region: tuple[int, int] | None = None
        self.cursor = self.saved = (1, 1)

    def resize(self, rows: int, columns: int) -> None:
        self.rows = rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self) -> str:
        os.set_blocking(self.master, False)
        try:
            text = os.read(self.master, 65536).decode()
        except BlockingIOError:
            return ""
        self._follow(text)
        return text

    def _follow(self, text: str) -> None:
        for token in re.findall(r"\x1b\[[\d;]*[A-Za-z]|\x1b[78D]|[^\x1b]+", text):
            row, column = self.cursor
            if token == "\x1b7":
                self.saved = self.cursor
            elif token == "\x1b8":
                self.cursor = self.saved
            elif token == "\x1bD":
                self.cursor = (min(row + 1, self.rows), column)
            elif token == "\x1b[1A":
                self.cursor = (max(1, row - 1), column)
            elif token == "\x1b[r":
                self.region, self.cursor = None, (1, 1)
            elif found := re.fullmatch(r"\x1b\[(\d+);(\d+)r", token):
                self.region, self.cursor = (int(found[1]), int(found[2])), (1, 1)
            elif found := re.fullmatch(r"\x1b\[(\d+);(\d+)H", token):
                self.cursor = (int(found[1]), int(found[2]))
            elif token == "\x1b[2K":
                self.screen.pop(row, None)
            elif not token.startswith("\x1b"):
                self.screen[row] = self.screen.get(row, "") + token
                self.cursor = (row, column + len(token))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Terminal]]:
    monkeypatch.setenv("TERM", "xterm-256color")
    made: list[Terminal] = []

    def make(rows: int = 24, columns: int = 80) -> Terminal:
        made.append(Terminal(rows, columns))
        return made[-1]

    yield make
    for found in made:
        os.close(found.master)
        if not found.stream.closed:
            found.stream.close()


def test_the_text_leaves_out_what_is_unknown() -> None:
    assert status_text(1200, 0.3124, 0.006) == "netmend: 1,200 steps, loss 0.312, overhead 0.6 %"
    assert status_text(1, None, None) == "netmend: 1 step"


def test_a_log_gets_a_line_every_thirty_seconds(clock: Clock) -> None:
    stream = io.StringIO()
    status = LiveStatus(stream)
    for step in range(1, 100):
        clock.now += 1
        status.update(step, 0.5, None)
    status.close()
    assert stream.getvalue().splitlines() == [f"netmend: {step} steps, loss 0.500" for step in (30, 60, 90)]


def test_quiet_writes_nothing_even_when_forced(clock: Clock) -> None:
    stream = io.StringIO()
    status = LiveStatus(stream, quiet=True)
    clock.now += 1000
    status.update(5, 0.1, 0.1, force=True)
    status.close()
    assert stream.getvalue() == ""


def test_force_writes_at_once_and_closed_means_closed(clock: Clock) -> None:
    stream = io.StringIO()
    status = LiveStatus(stream)
    status.update(5, 0.1, None, force=True)
    status.close()
    status.update(6, 0.1, None, force=True)
    assert stream.getvalue() == "netmend: 5 steps, loss 0.100\n"


def test_the_last_row_is_reserved_drawn_and_given_back(
    clock: Clock, terminal: Callable[..., Terminal]
) -> None:
    screen = terminal()
    status = LiveStatus(screen.stream)
    status.update(1, 2.3, 0.01)
    assert screen.read() == ""  # nothing before the first half second is over
    clock.now += 0.6
    status.update(7, 2.1, 0.01)
    screen.read()
    assert screen.region == (1, 23)
    assert screen.screen == {24: "netmend: 7 steps, loss 2.10, overhead 1.0 %"}
    assert screen.cursor == (1, 1)
    status.close()
    screen.read()
    assert screen.region is None and screen.screen == {} and screen.cursor == (1, 1)


def test_it_redraws_at_most_twice_a_second(clock: Clock, terminal: Callable[..., Terminal]) -> None:
    screen = terminal()
    status = LiveStatus(screen.stream)
    drawn = 0
    for step in range(100):
        clock.now += 0.1
        status.update(step, 1.0, None)
        drawn += "netmend" in screen.read()
    status.close()
    assert 15 <= drawn <= 20


def test_output_on_the_last_row_is_moved_up_with_its_column(
    clock: Clock, terminal: Callable[..., Terminal]
) -> None:
    screen = terminal()
    screen.cursor = (24, 13)  # half a line of the program stands here
    status = LiveStatus(screen.stream)
    status.update(1, None, None, force=True)
    screen.read()
    assert screen.cursor == (23, 13)


def test_a_resized_window_gets_a_new_region(clock: Clock, terminal: Callable[..., Terminal]) -> None:
    screen = terminal()
    status = LiveStatus(screen.stream)
    status.update(1, None, None, force=True)
    screen.read()
    screen.resize(40, 20)
    status.update(1000, 0.123, 0.5, force=True)
    screen.read()
    assert screen.region == (1, 39)
    assert screen.screen[40] == "netmend: 1,000 step"  # one column short of the edge: no wrapping
    screen.resize(5, 20)
    status.update(1001, None, None, force=True)
    screen.read()
    assert screen.region is None
    status.close()


@pytest.mark.parametrize(("term", "rows"), [("dumb", 24), ("xterm", 5)])
def test_poor_terminals_get_plain_lines(
    term: str, rows: int, clock: Clock, terminal: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    screen = terminal(rows)
    status = LiveStatus(screen.stream)
    status.update(1, None, None, force=True)
    status.close()
    assert "\x1b" not in screen.read()


def test_a_closed_or_missing_stream_disturbs_nobody(clock: Clock, terminal: Callable[..., Terminal]) -> None:
    stream = io.StringIO()
    status = LiveStatus(stream)
    stream.close()
    status.update(1, 0.5, None, force=True)
    status.update(2, 0.5, None, force=True)
    status.close()
    none = LiveStatus(None)
    none.update(1, 0.5, None, force=True)
    none.close()
    screen = terminal()
    lively = LiveStatus(screen.stream)
    lively.update(1, None, None, force=True)
    screen.stream.close()
    lively.update(2, None, None, force=True)
    lively.close()


def test_a_forked_child_neither_draws_nor_resets(
    clock: Clock, terminal: Callable[..., Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = terminal()
    status = LiveStatus(screen.stream)
    status.update(1, None, None, force=True)
    screen.read()
    parent = os.getpid()
    monkeypatch.setattr("netmend.report.run.live.os.getpid", lambda: parent + 1)
    status.update(2, None, None, force=True)
    status.close()
    assert screen.read() == ""
