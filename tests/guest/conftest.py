"""Fixtures of the guest tests."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from launching import Outcome, environment, readable

Reference = Callable[[tuple[str, ...], Path], Outcome]

# A shell that starts the tests in the background lets them ignore these, and programs under test would inherit that.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session")
def reference() -> Iterator[Reference]:
    """Runs a program without netmend, fast; see reference_server.py."""
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("reference_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    requests, answers = server.stdin, server.stdout

    def run_reference(target: tuple[str, ...], cwd: Path) -> Outcome:
        out, err = cwd / "reference.out", cwd / "reference.err"
        request = {"target": target, "cwd": str(cwd), "out": str(out), "err": str(err)}
        requests.write(json.dumps(request) + "\n")
        requests.flush()
        code = int(answers.readline())
        return Outcome(code, readable(out.read_bytes()), readable(err.read_bytes()))

    yield run_reference
    requests.close()
    server.wait(timeout=30)
    answers.close()
