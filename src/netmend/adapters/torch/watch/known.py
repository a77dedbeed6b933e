"""Known: values attached to objects of the user's without touching them or keeping them alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Known(Generic[Value]):
    """A dictionary keyed by object identity; entries vanish with their objects.

    `weakref.WeakKeyDictionary` would call the objects' own `__eq__` and `__hash__`, which tensors and user classes define
    in their own ways.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def put(self, thing: Any, value: Value) -> None:
        key = id(thing)
        entries = self._entries

        def gone(reference: weakref.ref[Any]) -> None:
            if key in entries and entries[key][0] is reference:
                del entries[key]

        entries[key] = (weakref.ref(thing, gone), value)

    def get(self, thing: Any) -> Value | None:
        entry = self._entries.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None

    def __contains__(self, thing: Any) -> bool:
        return self.get(thing) is not None

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> Iterator[tuple[Any, Value]]:
        for reference, value in list(self._entries.values()):
            thing = reference()
            if thing is not None:
                yield thing, value
