"""What is found out about a program once and asked by several rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from netmend.lint.engine.program import Program

Found = TypeVar("Found")


def once_per_program(ask: Callable[[Program], Found]) -> Callable[[Program], Found]:
    """Keep the answer of a question about a program as long as the program lives."""
    known: WeakKeyDictionary[Program, Found] = WeakKeyDictionary()

    @wraps(ask)
    def answer(program: Program) -> Found:
        if program not in known:
            known[program] = ask(program)
        return known[program]

    return answer
