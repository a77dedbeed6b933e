"""A generator of the user's own: a function in a file, `tests.py:starts`, called with the number of starts wanted and a seed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError
from netmend.mutate.agents.environments.space import Rows, Space


@dataclass(frozen=True)
class Own:
    """`text` as the user wrote it: FILE:FUNCTION, or NAME=FILE:FUNCTION."""

    name: str
    file: Path
    function: str

    def starts(self, count: int, seed: int, space: Space) -> Rows:
        """What the function returns, checked: rows of numbers as the environment's start has them."""
        told = f"the generator {self.name} ({self.file.name}:{self.function})"
        try:
            made = self._load()(count, seed)
        except UsageError:
            raise
        except Exception as problem:
            raise UsageError(f"{told} failed: {type(problem).__name__}: {problem}") from problem
        try:
            rows = np.array([np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in made])
        except (TypeError, ValueError) as problem:
            raise UsageError(
                f"{told} must return a list of starts, each a list of numbers: {problem}"
            ) from None
        wanted = len(space.names)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != wanted:
            raise UsageError(
                f"{told} must return starts of {wanted} number{'s' * (wanted > 1)} ({', '.join(space.names)}), "
                f"got an array of shape {rows.shape}"
            )
        if not np.isfinite(rows).all():
            raise UsageError(f"{told} returned a start that is not a finite number")
        return rows

    def _load(self) -> Any:
        spec = importlib.util.spec_from_file_location(f"netmend_generator_{self.file.stem}", self.file)
        if spec is None or spec.loader is None:
            raise UsageError(f"{self.file} is no Python file; give FILE.py:FUNCTION")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, self.function, None)
        if not callable(function):
            raise UsageError(
                f"there is no function {self.function} in {self.file}; it is called with (count, seed)"
            )
        return function


def parse_own(text: str) -> Own:
    """`edge=tests.py:edge_starts`."""
    name, equals, rest = text.partition("=")
    place = rest if equals else text
    file, colon, function = place.rpartition(":")
    if not colon or not file.endswith(".py") or not function.isidentifier():
        raise UsageError(f"--generator {text!r} cannot be read; write NAME=FILE.py:FUNCTION")
    if not Path(file).is_file():
        raise UsageError(f"--generator {text!r}: there is no file {file}")
    name = name if equals else function
    if name in ("replay", "weak", "strong", "edge"):
        raise UsageError(f"--generator {text!r}: the name {name} is taken; choose another one")
    return Own(name, Path(file).resolve(), function)
