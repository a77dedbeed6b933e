"""Counting: what is left on an environment's step when looking at each cannot be afforded. Worked up in batches."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from netmend.adapters.gymnasium.world import Copy
from netmend.adapters.torch.patches import hide_from_warnings

BATCH = 64
WorkUp = Callable[[Copy, list[tuple[Any, ...]]], None]


class Counting:
    """Keeps rewards and flags of one environment's steps; a wrapper in place of the one that looks at everything."""

    def __init__(self, work_up: WorkUp, alone: WorkUp) -> None:
        self._work_up = work_up  # from within what is guarded already
        self._alone = alone  # from within the program
        self._copy = Copy()
        self._environment: weakref.ref[Any] | None = None
        self._waiting: list[tuple[Any, ...]] = []

    def begin(self, environment: Any, copy: Copy) -> None:
        self.end()
        self._environment, self._copy = weakref.ref(environment), copy

    def end(self) -> None:
        """The environment is reset, or looked at again: what waits is worked up first."""
        self._environment = None
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._work_up(self._copy, waiting)

    def wrapper(self, original: Callable[..., Any], watching: Callable[..., Any]) -> Callable[..., Any]:
        """A step that only counts for the environment at hand, and is the watching wrapper for others."""

        def step(*args: Any, **kwargs: Any) -> Any:
            environment = self._environment
            if environment is None or environment() is not args[0]:
                return watching(*args, **kwargs)
            result = original(*args, **kwargs)
            if type(result) is tuple:
                self._waiting.append(result[1:4])
                if len(self._waiting) >= BATCH:
                    waiting, self._waiting = self._waiting, []
                    self._alone(self._copy, waiting)
            return result

        hide_from_warnings(step)
        return step
