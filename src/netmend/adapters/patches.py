"""Functions of libraries wrapped for a while, and put back exactly as they were."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

_ABSENT = object()
HIDDEN = str(Path(__file__).resolve().parents[1] / "importlib" / "_bootstrap" / "wrapper.py")


def hide_from_warnings(function: Any) -> None:
    """Let warnings raised below a function of ours name the user's line rather than ours.

    Warnings are attributed to a caller, and the interpreter passes over frames of its import system on the way, which it
    knows by the words "importlib" and "_bootstrap" in their file name. Our wrappers borrow them.
    """
    if isinstance(function, FunctionType):
        function.__code__ = function.__code__.replace(co_filename=HIDDEN)


class Patches:
    """Remembers what was replaced; `undo` restores it in reverse order, unless somebody else has replaced it since."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
        """Replace `owner.name` by `make(original)`; for classes an inherited original is put on the class itself."""
        before = vars(owner).get(name, _ABSENT)
        of_class = type(before) if isinstance(before, classmethod | staticmethod) else None
        original = before.__func__ if of_class is not None else getattr(owner, name)
        wrapper = functools.wraps(original)(make(original))
        # TorchScript compiles functions from their source: lead it to the original.
        wrapper.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
        wrapper.__original_fn = original  # type: ignore[attr-defined]
        hide_from_warnings(wrapper)
        put = wrapper if of_class is None else of_class(wrapper)
        setattr(owner, name, put)
        self._done.append((owner, name, before, put))

    def undo(self) -> None:
        for owner, name, before, put in reversed(self._done):
            if vars(owner).get(name) is put:
                if before is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
        self._done.clear()
