"""What several rules ask about one program is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from netmend.program.engine.program import Program

Found = TypeVar("Found")


def once(work: Callable[[Program], Found]) -> Callable[[Program], Found]:
    """A question about a program whose answer is kept as long as the program is."""

    def answer(program: Program) -> Found:
        known = program.answers
        if work not in known:
            known[work] = work(program)
        found: Found = known[work]
        return found

    answer.__doc__ = work.__doc__
    return answer
