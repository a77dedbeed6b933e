"""A watched program sees the same surroundings, and its caller sees the same program, as with plain Python."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from launching import (
    OWN_SOURCE,
    PROGRAMS,
    Command,
    environment,
    netmend_command,
    only_trace,
    plain_and_watched,
    recorded_runs,
    run,
    side_by_side,
    without_library_frames,
)

ENDINGS = (
    "exit",
    "exit-text",
    "exit-none",
    "exit-huge",
    "system-exit",
    "value-error",
    "chained",
    "hard-exit",
    "interrupt",
    "caught-interrupt",
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGKILL",
)

SMALL_SCRIPTS = {
    "latin-1 source": "# -*- coding: latin-1 -*-\nprint(ascii('\xe4'))\n".encode("latin-1"),
    "byte order mark": b"\xef\xbb\xbfprint('bom')\n",
    "windows line ends": b"if True:\r\n    print('crlf')\r\n",
    "no newline at the end": b"print('end')",
    "future import": b"from __future__ import annotations\ndef f(x: nowhere): ...\nprint(f.__annotations__)\n",
    "own source": b"import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), f.__code__.co_filename)\n",
    "import main": b"import __main__\nvalue = 3\nprint(__main__.value, __main__.__file__)\n",
    "stdout replaced": b"import sys\nsys.stdout = sys.stderr\nprint('there')\n",
    "stdout closed": b"import os\nos.write(1, b'x')\nos.close(1)\n",
    "nothing": b"",
    "warning in error line": b"import warnings\nwarnings.warn('mine')\nraise LookupError('mine')\n",
    "exception group": b"try:\n    1/0\nexcept ZeroDivisionError:\n    raise TypeError('second')\n",
    "failing import": b"import does_not_exist_anywhere\n",
    "assert": b"def check(value):\n    assert value > 1, value\ncheck(0)\n",
    "exit in atexit": b"import atexit, sys\natexit.register(lambda: sys.exit(9))\nsys.exit(4)\n",
    "exception in thread": b"import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start()\nt.join()\n",
    "unraisable": b"class C:\n    def __del__(self): raise ValueError('late')\nc = C()\ndel c\n",
}


@pytest.mark.parametrize("arguments", [(), ("a", "--flag", "-q", "--", "--full", "-m", "x y")])
def test_surroundings(arguments: tuple[str, ...], tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "shows_surroundings.py"), *arguments)
    assert watched == plain


def test_surroundings_by_relative_path(tmp_path: Path) -> None:
    (tmp_path / "has space").mkdir()
    (tmp_path / "has space" / "träin.py").write_bytes((PROGRAMS / "shows_surroundings.py").read_bytes())
    (tmp_path / "link.py").symlink_to(tmp_path / "has space" / "träin.py")
    for script in ("has space/träin.py", "./link.py", "-"):
        plain, watched = plain_and_watched(tmp_path, script, "x", stdin="")
        if script != "-":  # plain Python reads the program from stdin; netmend may refuse
            assert watched == plain


def test_options_end_at_double_dash(tmp_path: Path) -> None:
    script = str(PROGRAMS / "shows_surroundings.py")
    plain, watched = side_by_side([Command((script, "-v")), Command((script, "-v"), ("-q", "--"))], tmp_path)
    assert watched == plain


@pytest.mark.parametrize("module", ["pocket_trainer", "pocket_trainer.train"])
def test_module_with_relative_imports(module: str, tmp_path: Path) -> None:
    # sys.path[0] is printed, so both have to be started in the same directory
    target = ("-m", module, "one", "--two", "-q")
    plain, watched = plain_and_watched(PROGRAMS, *target, options=("-q", "--directory", str(tmp_path)))
    assert plain.code == 0
    assert watched == plain
    assert only_trace(tmp_path).run.steps == 12


def test_module_surroundings(tmp_path: Path) -> None:
    (tmp_path / "surroundings.py").write_bytes((PROGRAMS / "shows_surroundings.py").read_bytes())
    plain, watched = plain_and_watched(tmp_path, "-m", "surroundings", "a")
    assert plain.code == 0
    assert watched == plain


@pytest.mark.parametrize("name", SMALL_SCRIPTS)
def test_small_script(name: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_bytes(SMALL_SCRIPTS[name])
    plain, watched = plain_and_watched(tmp_path, "script.py")
    assert watched == plain


def test_standard_input(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},{2 * i}\n" for i in range(8))
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "reads_stdin.py"), stdin=rows)
    assert plain.code == 0
    assert watched == plain


@pytest.mark.parametrize("how", ENDINGS)
def test_ending(how: str, tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "ends_badly.py"), how)
    assert watched == plain
    if how not in {
        "hard-exit",
        "SIGTERM",
        "SIGHUP",
        "SIGKILL",
    }:  # the others leave no moment to write anything down
        assert only_trace(tmp_path).run.exit_code in {plain.code, plain.code % 256, 300, None}


@pytest.mark.parametrize("how", ["shape", "backward"])
def test_exception_inside_torch(how: str, tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "ends_badly.py"), how)
    assert plain.code == 1
    assert OWN_SOURCE not in watched.err
    assert without_library_frames(watched.err) == without_library_frames(plain.err)
    assert (watched.code, watched.out) == (plain.code, plain.out)
    assert "Error" in (only_trace(tmp_path).run.exception or "")


def test_status_of_a_failed_run(tmp_path: Path) -> None:
    outcome = run(Command((str(PROGRAMS / "ends_badly.py"), "value-error"), ("-q",)).line, tmp_path)
    assert outcome.code == 1
    trace = only_trace(tmp_path)
    assert trace.run.status == "failed"
    assert trace.run.exception == "ValueError: the user's own mistake"
    assert trace.run.exception_site is not None
    assert trace.run.exception_site.short.startswith("ends_badly.py:")
    assert trace.run.steps == 4


def test_own_signal_handlers_and_excepthook(tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "own_signal_handlers.py"))
    assert plain.code == 1
    # the user's excepthook may see how the script was entered; what it is told about the error stays the same
    assert watched == plain


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_from_outside(number: signal.Signals, tmp_path: Path) -> None:
    target = (str(PROGRAMS / "long_run.py"), "1000000")
    processes = [
        subprocess.Popen(
            Command(target, options).line,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        for options in (None, ("-q",))
    ]
    errors = []
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(number)
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert out == ""
        errors.append(err)
    plain, watched = processes
    assert watched.returncode == plain.returncode == -number
    assert OWN_SOURCE not in errors[1]
    assert errors[1].splitlines()[-1:] == errors[0].splitlines()[-1:]
    trace = only_trace(tmp_path)
    assert trace.run.status in (
        {"interrupted"} if number == signal.SIGINT else {"interrupted", "failed", "killed"}
    )


def test_reader_of_the_output_goes_away(tmp_path: Path) -> None:
    ends = []
    for options in (None, ("-q",)):
        process = subprocess.Popen(
            Command((str(PROGRAMS / "never_trains.py"),), options).line,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        ends.append((process.stderr.read(), process.wait(timeout=60)))
        process.stderr.close()
    assert ends[0][1] == 120  # Python's own code for output that could not be flushed
    assert ends[1] == ends[0]


def test_without_quiet_only_stderr_differs(tmp_path: Path) -> None:
    plain, watched = plain_and_watched(tmp_path, str(PROGRAMS / "mlp_classifier.py"), options=())
    assert (watched.code, watched.out) == (plain.code, plain.out)
    assert recorded_runs(tmp_path)[0].id in watched.err  # the summary says where the run is


def launched(command: list[str], folder: Path) -> Any:
    """Once more when torch itself falls over at its end, which it sometimes does on a busy machine, without netmend too."""
    folder.mkdir(exist_ok=True)
    for _ in range(10):
        ended = run(command, folder)
        if "terminate called without an active exception" not in ended.err:
            break
        shutil.rmtree(folder / ".netmend", ignore_errors=True)
    return ended


def test_torchrun_records_every_rank(tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    script = str(PROGRAMS / "ddp.py")
    plain = launched([*launcher, script], tmp_path / "plain")
    watched = launched([*launcher, "-m", "netmend", "run", "-q", "--full", script], tmp_path)
    assert plain.code == 0, plain.err
    assert (watched.code, watched.out) == (plain.code, plain.out)
    assert only_trace(tmp_path).run.steps == 12
    (info,) = recorded_runs(tmp_path)
    assert len(list(info.path.glob("trace*.sqlite"))) == 2
    assert netmend_command(tmp_path, "show", "last").code == 0
