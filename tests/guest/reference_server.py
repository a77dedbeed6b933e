"""Runs programs in forks of one process that has imported torch already: plain Python without the wait.

Importing torch takes most of the time of a small program, and the unwatched side of a comparison gains nothing from
doing it again. Requests come as JSON lines on stdin; each answer is the exit status of the child.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import json
import os
import sys
import types
from typing import Any

import torch._dynamo
import torch.utils.data  # noqa: F401 - so that the forks have it


def become(request: dict[str, Any]) -> None:
    """Turn this fork into the program; it then ends the way any interpreter ends."""
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(str(request[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, descriptor)
        os.close(file)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = os.fdopen(0)
    os.chdir(str(request["cwd"]))
    script, *arguments = request["target"]
    sys.argv[:] = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(script))  # noqa: PTH120 - as Python itself computes it
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", script)
    vars(module).update(
        __file__=script, __builtins__=builtins, __loader__=loader, __cached__=None, __annotations__={}
    )
    sys.modules["__main__"] = module
    exec(compile(loader.get_data(script), script, "exec", dont_inherit=True), vars(module))


def serve() -> None:
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
