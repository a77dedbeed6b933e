"""Which line of the user's own code is running, and what the user calls an object there."""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

from netmend.vocabulary import Site

Result = TypeVar("Result")
_OURS = 3  # references to a snapshot that only the frame, our variable and the counting itself hold


def search_variables(frame: FrameType, search: Callable[[Mapping[str, Any]], Result]) -> Result:
    """`search` the local variables of a frame.

    Before Python 3.13 a function's variables are copied into a dictionary that the frame keeps: batches and graphs of one
    step would live until the function returns. The copy is emptied again, unless the user's code holds it (`locals()`).
    """
    variables = frame.f_locals
    try:
        return search(variables)
    finally:
        copied = sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if copied and sys.getrefcount(variables) <= _OURS:
            variables.clear()


# Both as imported and without symbolic links: code objects may carry either. All end in a separator.
_OWN = tuple({f"{path.parents[1]}{os.sep}" for path in (Path(__file__), Path(__file__).resolve())})
_STANDARD = tuple({f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
_NOTEBOOK = ("<ipython-input", "<stdin>", "ipykernel")


class Sites:
    """Finds and remembers sites; asking again for the same instruction costs two dictionary look-ups."""

    def __init__(self, extra_roots: tuple[str, ...] = ()) -> None:
        self.extra_roots = extra_roots  # they count as the user's although installed (`run -m package`)
        self._is_user: dict[str, bool] = {}
        # Keyed by the identity of the code object, which is kept alive in the value: hashing code objects is slow.
        self._known: dict[tuple[int, int], tuple[CodeType, Site]] = {}

    def is_user_file(self, file: str) -> bool:
        verdict = self._is_user.get(file)
        if verdict is None:
            verdict = self._is_user[file] = self._judge(file)
        return verdict

    def _judge(self, file: str) -> bool:
        if any(mark in file for mark in _NOTEBOOK):
            return True
        if file.startswith("<"):
            return False
        if self.extra_roots and file.startswith(self.extra_roots):
            return True
        return not (
            file.startswith(_OWN)
            or file.startswith(_STANDARD)
            or any(folder in file for folder in _INSTALLED)
        )

    def user_frame(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame, from `frame` outwards, that runs the user's code."""
        is_user = self._is_user
        while frame is not None:
            file = frame.f_code.co_filename
            verdict = is_user.get(file)
            if verdict or (verdict is None and self.is_user_file(file)):
                return frame
            frame = frame.f_back
        return None

    def here(self) -> Site | None:
        """The user's line that led to the caller."""
        return self.of(self.user_frame(sys._getframe(1)))

    def name_here(self, thing: object) -> str | None:
        """What the user calls an object where the caller is used."""
        return name_of(thing, sys._getframe(1), self)

    def of_creation(self, created: object) -> Site | None:
        """The line that creates an object whose `__init__` is running: frames of its own initialisers are passed over."""
        frame = self.user_frame(sys._getframe(1))
        while frame is not None and frame.f_code.co_name == "__init__" and _first_argument(frame) is created:
            frame = self.user_frame(frame.f_back)
        return self.of(frame)

    def of(self, frame: FrameType | None) -> Site | None:
        if frame is None:
            return None
        code, instruction = frame.f_code, frame.f_lasti
        key = (id(code), instruction)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (code, _site(code, instruction, frame.f_lineno))
        return found[1]


def _first_argument(frame: FrameType) -> object:
    if not frame.f_code.co_argcount:
        return None
    name = frame.f_code.co_varnames[0]
    return search_variables(frame, lambda variables: variables.get(name))


def _site(code: CodeType, instruction: int, line: int | None) -> Site:
    end_line = column = end_column = None
    if sys.version_info >= (3, 11):
        positions = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
        if positions is not None and positions[0] is not None:
            line, end_line, column, end_column = positions
    function = "" if code.co_name == "<module>" else getattr(code, "co_qualname", code.co_name)
    return Site(code.co_filename, line or code.co_firstlineno, column, end_line, end_column, function)


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
