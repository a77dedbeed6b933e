"""Which line made an object: kept beside the object as long as it lives, never on it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

_MOST_INSIDE = 8  # things of a list or a dictionary of things that are asked
_MOST = 50_000  # objects that are remembered at once


class Origins:
    """The line that made each object. An object that cannot be watched dying is not remembered."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[weakref.ref[Any], str]] = {}

    def remember(self, thing: Any, name: str) -> None:
        for part in _parts(thing):
            key = id(part)
            try:
                reference = weakref.ref(part, lambda _, key=key: self._names.pop(key, None))  # type: ignore[misc]
            except TypeError:
                continue
            if len(self._names) < _MOST or key in self._names:
                self._names[key] = (reference, name)

    def of(self, thing: Any) -> str | None:
        """The line that made it, or what it is a view of."""
        kept = self._names.get(id(thing))
        if kept is not None and kept[0]() is thing:
            return kept[1]
        base = getattr(thing, "base", None) if type(thing).__module__ == "numpy" else None
        return self.of(base) if base is not None else None

    def of_all(self, things: Iterable[Any]) -> tuple[str, ...]:
        """The lines that made what a call is given, each once."""
        names = (self.of(part) for thing in things for part in _parts(thing))
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def alive(self) -> Iterator[tuple[str, Any]]:
        """What the program still holds, with the line that made it."""
        for reference, name in list(self._names.values()):
            thing = reference()
            if thing is not None:
                yield name, thing


def _parts(thing: Any) -> Iterator[Any]:
    """A thing, or the first things of a list, tuple or dictionary of things."""
    if isinstance(thing, list | tuple):
        yield from thing[:_MOST_INSIDE]
    elif isinstance(thing, dict):
        yield from list(thing.values())[:_MOST_INSIDE]
    else:
        yield thing
