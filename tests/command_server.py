"""Commands of netmend in forks of one process that has imported PyTorch and netmend already: what is typed, without the wait.

Loading PyTorch takes longer than most commands that tests type. A fork ends as any interpreter ends, so exit codes, output and what
is written at exit are those of the command. Tests of the start itself (environment, signals, `sys.path`) start real processes.

As a program it is the server: requests come as JSON lines on stdin, each answer is the exit status of the fork.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

Ended = subprocess.CompletedProcess[str]


def netmend(folder: Path, *words: str, columns: int = 80, **variables: str) -> Ended:
    """What `netmend WORDS…` shows in a terminal of that width, typed in the folder."""
    requests, answers = _server()
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        own = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": str(columns), **variables}
        request = {"words": words, "cwd": str(folder), "out": str(out), "err": str(err), "environment": own}
        requests.write(json.dumps(request) + "\n")
        requests.flush()
        code = int(answers.readline())
        return subprocess.CompletedProcess(
            ["netmend", *words],
            code,
            out.read_text(encoding="utf-8"),
            err.read_text(encoding="utf-8"),
        )


@functools.cache
def _server() -> tuple[IO[str], IO[str]]:
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    atexit.register(server.stdin.close)
    return server.stdin, server.stdout


def become(request: dict[str, object]) -> None:
    """Turn this fork into the command."""
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(str(request[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, descriptor)
        os.close(file)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = os.fdopen(0)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    tempfile.tempdir = None  # another environment may name another folder
    words = list(request["words"])  # type: ignore[call-overload]
    import netmend
    from netmend.cli import main

    sys.argv[:] = [str(Path(netmend.__file__).with_name("__main__.py")), *words]
    sys.path[0] = str(request["cwd"])
    main(words)


def serve() -> None:

    import netmend.adapters.torch.watch.session
    import netmend.api
    import netmend.cli.app
    import netmend.cli.run
    import netmend.localise
    import netmend.report.terminal  # noqa: F401 - so that the forks have them
    from netmend.check.rule import RULES
    from netmend.diagnose.detector import DETECTORS
    from netmend.localise.cause import CAUSES

    for family in (RULES, DETECTORS, CAUSES):
        family.classes()

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            answers.close()
            become(json.loads(line))
            return
        answers.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")


if __name__ == "__main__":
    serve()
