"""Methods of a whole family of classes wrapped for a while: those that exist and those that are defined later.

A program's own classes may be pickled by value (environments that are sent to other processes). What stands on them in the meantime
pickles as the original method, so that nothing of netmend travels along.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from netmend.adapters.patches import hide_from_warnings

Make = Callable[[Callable[..., Any]], Callable[..., Any]]
Lighter = Callable[
    [Callable[..., Any], Callable[..., Any]], Callable[..., Any]
]  # of the original and the wrapper
_ABSENT = object()


class WatchedMethod:
    """Stands for a method on a class."""

    def __init__(self, original: FunctionType, make: Make) -> None:
        self.original = original
        self.wrapper = self.watching = functools.wraps(original)(make(original))
        hide_from_warnings(self.wrapper)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.wrapper if instance is None else MethodType(self.wrapper, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.wrapper(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, ((self.original,), 0)


class WatchedClasses:
    """All classes below a base; `undo` leaves every class as it was."""

    def __init__(self) -> None:
        self._bases: list[tuple[type, Any, Any]] = []
        self._done: list[tuple[type, str, WatchedMethod]] = []
        self._resting: list[tuple[type, str, WatchedMethod]] = []

    def watch(self, base: type[Any], methods: dict[str, Make]) -> None:
        """Wrap the methods of these names wherever a class of the family defines them itself."""
        for kind in _family(base):
            self._wrap(kind, methods)
        before = vars(base).get("__init_subclass__", _ABSENT)

        def init_subclass(kind: type[Any], /, **kwargs: Any) -> None:
            if before is _ABSENT:
                super(base, kind).__init_subclass__(**kwargs)
            else:
                before.__get__(None, kind)(**kwargs)
            self._wrap(kind, methods)

        hide_from_warnings(init_subclass)
        put = classmethod(init_subclass)
        base.__init_subclass__ = put  # type: ignore[assignment]
        self._bases.append((base, before, put))

    def _wrap(self, kind: type, methods: dict[str, Make]) -> None:
        for name, make in methods.items():
            own = vars(kind).get(name)
            if isinstance(own, FunctionType) and not getattr(own, "__isabstractmethod__", False):
                watched = WatchedMethod(own, make)
                setattr(kind, name, watched)
                self._done.append((kind, name, watched))

    def rest(self, kept: set[type], lighter: dict[str, Lighter]) -> None:
        """Take the wrappers off for a while; those of some classes are kept, some methods with a lighter wrapper."""
        for kind, name, watched in self._done:
            if vars(kind).get(name) is not watched:
                continue
            self._resting.append((kind, name, watched))
            if kind not in kept:
                setattr(kind, name, watched.original)
            elif name in lighter:
                watched.wrapper = lighter[name](watched.original, watched.watching)

    def resume(self) -> None:
        """Put back what rests, unless somebody else has put something there."""
        for kind, name, watched in self._resting:
            watched.wrapper = watched.watching
            if vars(kind).get(name) is watched.original:
                setattr(kind, name, watched)
        self._resting.clear()

    def undo(self) -> None:
        for base, before, put in reversed(self._bases):
            if vars(base).get("__init_subclass__") is put:
                if before is _ABSENT:
                    del base.__init_subclass__
                else:
                    base.__init_subclass__ = before
        for kind, name, watched in reversed(self._done):
            if vars(kind).get(name) is watched:
                setattr(kind, name, watched.original)
        self._bases.clear()
        self._done.clear()
        self._resting.clear()


def _family(base: type) -> Iterator[type]:
    """The class and all below it, each once."""
    waiting, seen = [base], {base}
    while waiting:
        kind = waiting.pop()
        yield kind
        found: list[type] = type.__subclasses__(kind)
        below = [sub for sub in found if sub not in seen]
        seen.update(below)
        waiting.extend(below)
