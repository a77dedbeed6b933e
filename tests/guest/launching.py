"""Starts programs with plain Python and under netmend, in processes of their own, and says how they ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import netmend
from netmend.store import RunInfo, list_runs, read_trace
from netmend.vocabulary import Trace

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
OWN_SOURCE = str(Path(netmend.__file__).resolve().parent)
TIME_LIMIT_SECONDS = 180.0
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
TORCH_FRAME = re.compile(r'  File "[^"]*site-packages[^"]*", line .*\n(?:    .*\n)*')


@dataclass(frozen=True)
class Outcome:
    """All that a caller of a program can see of it."""

    code: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.strip()]


@dataclass(frozen=True)
class Command:
    """One program start. `options` are netmend's; None means plain Python."""

    target: tuple[str, ...]
    options: tuple[str, ...] | None = None

    @property
    def line(self) -> list[str]:
        if self.options is None:
            return [sys.executable, *self.target]
        return [sys.executable, "-m", "netmend", "run", *self.options, *self.target]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A quiet, reproducible environment: one thread, and nothing of the tester's own settings."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("NETMEND", "PYTHON", "OMP"))
    }
    return {
        **kept,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
        **(extra or {}),
    }


def run(
    line: Sequence[str], cwd: Path, stdin: str = "", extra_environment: Mapping[str, str] | None = None
) -> Outcome:
    """Run one command to its end."""
    done = subprocess.run(
        line,
        cwd=cwd,
        input=stdin.encode(),
        capture_output=True,
        env=environment(extra_environment),
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )
    return Outcome(done.returncode, readable(done.stdout), readable(done.stderr))


def readable(output: bytes) -> str:
    """The text, with memory addresses masked: they differ between any two processes."""
    return ADDRESS.sub("0x…", output.decode(errors="replace"))


def netmend_command(cwd: Path, *arguments: str) -> Outcome:
    """`netmend ARGUMENTS…`"""
    return run([sys.executable, "-m", "netmend", *arguments], cwd)


def side_by_side(commands: Sequence[Command], cwd: Path, stdin: str = "") -> list[Outcome]:
    """Run commands at the same time: they share nothing but the working directory."""
    with ThreadPoolExecutor(len(commands)) as pool:
        return list(pool.map(lambda command: run(command.line, cwd, stdin), commands))


def plain_and_watched(
    cwd: Path, *target: str, options: tuple[str, ...] = ("-q",), stdin: str = ""
) -> tuple[Outcome, Outcome]:
    """The same program without and with netmend."""
    plain, watched = side_by_side([Command(target), Command(target, options)], cwd, stdin)
    return plain, watched


def recorded_runs(home: Path) -> list[RunInfo]:
    """Runs below a directory that was given as --directory, or in which programs were started."""
    return list_runs(home / ".netmend" / "runs") or list_runs(home / "runs")


def only_trace(home: Path) -> Trace:
    """The trace of the only run recorded below a directory."""
    (info,) = recorded_runs(home)
    assert info.problem is None, info.problem
    return read_trace(info.path)


def own_failures(trace: Trace) -> list[str]:
    """What netmend itself says went wrong inside it."""
    return [
        f"{event.message} {dict(event.detail)}" for event in trace.events if event.kind == "part switched off"
    ]


def without_library_frames(text: str) -> str:
    """A traceback reduced to the user's frames: global hooks make torch take other lines of its own code."""
    return TORCH_FRAME.sub("", text)
