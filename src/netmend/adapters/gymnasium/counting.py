"""Counting: what is left on an environment's step and reset when looking at each cannot be afforded. Worked up in batches."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from netmend.adapters.gymnasium.world import RESET, Copy
from netmend.adapters.patches import hide_from_warnings

BATCH = 64
WorkUp = Callable[[Copy, list[tuple[Any, ...]]], None]


class Counting:
    """Keeps rewards and flags of one environment's steps; wrappers in place of those that look at everything.

    Episodes go on being counted as long as the same line of the user's goes on stepping: another line is another loop.
    """

    def __init__(self, work_up: WorkUp, is_user_file: Callable[[str], bool]) -> None:
        self._work_up = work_up
        self._is_user_file = is_user_file
        self._copy = Copy()
        self._environment: weakref.ref[Any] | None = None
        self._waiting: list[tuple[Any, ...]] = []
        self._loop: tuple[CodeType, int] | None = None  # the line that steps
        self._was_reset = False

    def begin(self, environment: Any, copy: Copy) -> None:
        self.end()
        self._environment, self._copy = weakref.ref(environment), copy

    def end(self) -> None:
        """The environment is looked at again: what waits is worked up first."""
        self._environment, self._loop, self._was_reset = None, None, False
        self._hand_over()

    def stepping(self, original: Callable[..., Any], watching: Callable[..., Any]) -> Callable[..., Any]:
        """A step that only counts for the environment at hand, and is the watching wrapper for others."""

        def step(*args: Any, **kwargs: Any) -> Any:
            environment = self._environment
            if environment is None or environment() is not args[0]:
                return watching(*args, **kwargs)
            if self._was_reset or self._loop is None:
                caller = sys._getframe(1)
                loop = (caller.f_code, caller.f_lineno)
                if self._was_reset and loop != self._loop:
                    self.end()
                    self._copy.world = None  # another loop: this step says which
                    return watching(*args, **kwargs)
                self._loop, self._was_reset = loop, False
            result = original(*args, **kwargs)
            if type(result) is tuple:
                waiting = self._waiting
                waiting.append(result[1:4])
                if len(waiting) >= BATCH:
                    self._hand_over()
            return result

        hide_from_warnings(step)
        return step

    def resetting(self, original: Callable[..., Any], watching: Callable[..., Any]) -> Callable[..., Any]:
        """A reset after which the same loop may go on; a seeded one, or one from within a library, is looked at."""

        def reset(*args: Any, **kwargs: Any) -> Any:
            environment, loop = self._environment, self._loop
            if environment is None or environment() is not args[0] or loop is None or len(args) > 1 or kwargs:
                return watching(*args, **kwargs)
            if not self._is_user_file(loop[0].co_filename):
                return watching(*args, **kwargs)
            result = original(*args, **kwargs)
            self._was_reset = True
            self._waiting.append(RESET)
            return result

        hide_from_warnings(reset)
        return reset

    def _hand_over(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._work_up(self._copy, waiting)
