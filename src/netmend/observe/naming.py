"""What the user calls an object: looked up in the variables that are visible where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any

from netmend.observe.sites import Sites
from netmend.observe.variables import search_variables

_FRAMES_SEARCHED = 6
_UNHELPFUL = {"self", "cls", "_", "module"}


def name_of(thing: object, frame: FrameType | None, sites: Sites) -> str | None:
    """A dotted name such as "model" or "self.encoder", or None when no visible variable holds the object."""
    searched = 0
    fallback: str | None = None
    frame = sites.user_frame(frame)
    while frame is not None and searched < _FRAMES_SEARCHED:
        found = search_variables(frame, lambda variables: _search(thing, variables))
        for name in (found, _search(thing, frame.f_globals)):
            if name is not None and name.split(".")[-1] not in _UNHELPFUL:
                return name
            fallback = fallback or name
        searched += 1
        frame = sites.user_frame(frame.f_back)
    return None if fallback in _UNHELPFUL else fallback


def _search(thing: object, variables: Mapping[str, Any]) -> str | None:
    for name, value in list(variables.items()):
        if value is thing and _is_name(name):
            return name
    for name, value in list(variables.items()):
        attributes = getattr(value, "__dict__", None) if not isinstance(value, type) else None
        if not _is_name(name) or not isinstance(attributes, dict) or len(attributes) > 200:
            continue
        for attribute, held in list(attributes.items()):
            if held is thing:
                return f"{name}.{attribute}"
            if attribute == "_modules" and isinstance(held, dict):
                for child, module in held.items():
                    if module is thing:
                        return f"{name}.{child}"
    return None


def _is_name(name: str) -> bool:
    """Something the user wrote: interpreters and test tools keep variables of their own, such as ".0" or "@assert"."""
    return name.isidentifier() and not name.startswith("__")
