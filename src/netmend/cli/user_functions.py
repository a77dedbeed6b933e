"""`file.py:function` on the command line: the function is called, and whatever goes wrong in it is told in one line."""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from netmend.errors import NetmendError, UsageError

FORM = re.compile(r"^(?P<file>.+\.py):(?P<function>[A-Za-z_]\w*)$")


def names_function(text: str) -> bool:
    return FORM.match(text) is not None


class UserFunctions:
    """Functions of the user's files; a file that several options name is run once."""

    def __init__(self) -> None:
        self._modules: dict[Path, ModuleType] = {}

    def refuse_missing(self, text: str, option: str) -> None:
        """Before anything is run."""
        match = FORM.match(text)
        if match is None:
            raise UsageError(f"{option} {text}: write file.py:function")
        if not Path(match["file"]).is_file():
            raise UsageError(
                f"{option} {text}: there is no file {match['file']}; give the path of the file that holds "
                f"{match['function']}"
            )

    def call(self, text: str, option: str) -> Any:
        """What the function returns; it is called without arguments."""
        self.refuse_missing(text, option)
        match = FORM.match(text)
        assert match is not None
        path = Path(match["file"]).resolve()
        try:
            module = self._module(path)
            function = getattr(module, match["function"], None)
            if not callable(function):
                raise UsageError(f"{option} {text}: {match['file']} has no function {match['function']}")
            return function()
        except NetmendError:
            raise
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - the user's code may raise anything
            raise UsageError(f"{option} {text} failed: {_told(problem, path)}") from None

    def _module(self, path: Path) -> ModuleType:
        if path not in self._modules:
            self._modules[path] = load_file(path)
        return self._modules[path]


def load_file(path: Path) -> ModuleType:
    """A file as a module under its own name, as its own imports and pickles expect it, and beside the files that it imports."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _told(problem: BaseException, path: Path) -> str:
    """`ValueError: no such digit (line 12 of data.py)`."""
    if isinstance(problem, SyntaxError) and problem.lineno:
        return f"SyntaxError: {problem.msg} (line {problem.lineno} of {Path(problem.filename or path).name})"
    first = (str(problem).strip().splitlines() or [""])[0][:200]
    words = f"{type(problem).__name__}: {first}" if first else type(problem).__name__
    lines = [
        frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if Path(frame.filename) == path
    ]
    return f"{words} (line {lines[-1]} of {path.name})" if lines else words
