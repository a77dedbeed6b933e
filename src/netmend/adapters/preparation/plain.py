"""Arguments of a call as plain values: numbers, words, short lists of these. Never data."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_LONGEST_TEXT = 200
_MOST_ITEMS = 24
_ABSENT = object()


def settings_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments that are plain values, by their names."""
    try:
        bound = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a function of C that does not tell its parameters
        bound = kwargs
    values = bound | bound.get("kwargs", {}) if isinstance(bound.get("kwargs"), dict) else bound
    plain = {name: _plain(value) for name, value in values.items() if name not in ("self", "kwargs")}
    return {name: value for name, value in plain.items() if value is not _ABSENT}


def _plain(value: Any, deepest: int = 1) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if hasattr(value, "__fspath__"):
        return str(value)[-_LONGEST_TEXT:]
    if isinstance(value, type):
        return value.__name__
    if not deepest:
        return _ABSENT
    if isinstance(value, list | tuple) and len(value) <= _MOST_ITEMS:
        items = [_plain(item, 0) for item in value]
        return _ABSENT if _ABSENT in items else items
    if isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        pairs = {str(key)[:_LONGEST_TEXT]: _plain(item, 0) for key, item in value.items()}
        return _ABSENT if _ABSENT in pairs.values() else pairs
    return _ABSENT
