"""Magnitudes: faults whose strength can be turned, from none at all to extreme.

A knob is one such fault at one place of a program. `knobs` are searched for the mildest value that a test notices; `singles`
are all other mutations, which are there or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from netmend.errors import UsageError
from netmend.mutate.mutation import OPERATORS, Mutation, Operator, mutation
from netmend.program.source.values import Faces
from netmend.repair.repair import Case
from netmend.vocabulary.change import FileEdits

Item = TypeVar("Item")
_LEAST_GRADE = 0.01
_DIGITS = 4  # of a value, so that what is written into the source stays short


@dataclass(frozen=True)
class Scale:
    """The values that an ordered parameter may take; `extreme` may lie below `mildest`."""

    mildest: float  # the original value, or no fault at all
    extreme: float
    precision: float  # values that are nearer than this are the same; a ratio above 1 where logarithmic
    logarithmic: bool = False
    whole: bool = False  # integers only

    def __post_init__(self) -> None:
        if self.mildest == self.extreme or self.precision <= 0:
            raise ValueError(f"a scale needs two ends and a precision above 0, got {self}")
        if self.logarithmic and (min(self.mildest, self.extreme) <= 0 or self.precision <= 1):
            raise ValueError(f"a logarithmic scale needs ends above 0 and a ratio above 1, got {self}")

    def fitted(self, value: float) -> float:
        """The nearest value that can be set."""
        low, high = sorted((self.mildest, self.extreme))
        value = min(max(value, low), high)
        if self.whole:
            return float(round(value))
        return value if value in (low, high) else float(f"{value:.{_DIGITS}g}")

    def position(self, value: float) -> float:
        """How far a value is on the way from the mildest (0) to the extreme (1)."""
        ends = (self.mildest, self.extreme, value)
        first, last, own = map(math.log, ends) if self.logarithmic else ends
        return min(1.0, max(0.0, (own - first) / (last - first)))


@dataclass(frozen=True, eq=False)
class Knob:
    """One fault at one place whose strength can be chosen."""

    operator: str  # code, "M101"
    title: str  # what is turned: "learning rate lowered"
    scale: Scale
    at: Callable[[float], Mutation | None]  # None: at that value the program is as it was
    cause: str = ""
    component: str = ""


@runtime_checkable
class Graded(Protocol):
    """An operator whose faults have a strength."""

    def knobs(self, case: Case) -> Iterator[Knob]:
        """What can be turned in a program; none where the place cannot be told for sure."""
        ...


@runtime_checkable
class PartlyGraded(Graded, Protocol):
    """A graded operator that says itself which of its faults have no strength."""

    def others(self, case: Case) -> Iterator[Mutation]:
        """Those, also where nothing can be turned."""
        ...


def knob(
    operator: Operator,
    title: str,
    scale: Scale,
    edits: Callable[[float], FileEdits | Faces],
    *,
    cause: str = "",
    component: str = "",
    told: str | Callable[[float], str] = "",
) -> Iterator[Knob]:
    """One knob, or none where not even its extreme can be written. `told`: title of a value, `{}` stands for it."""

    def at(value: float) -> Mutation | None:
        value = scale.fitted(value)
        if value == scale.mildest:
            return None
        text = told(value) if callable(told) else (told or f"{title}: {{}}").format(f"{value:g}")
        made = mutation(
            operator,
            text,
            edits(value),
            cause=cause,
            grade=max(_LEAST_GRADE, scale.position(value)),
            component=component,
            parameter=f"{value:g}",
            value=value,
        )
        return next(made, None)

    if at(scale.extreme) is not None:
        yield Knob(operator.code, title, scale, at, cause or operator.causes[0], component)


def knobs(case: Case, problems: list[str], operators: Iterable[Operator] | None = None) -> list[Knob]:
    """Everything that can be turned in a program, by all operators or by some."""
    found: list[Knob] = []
    for operator in OPERATORS.all() if operators is None else operators:
        if isinstance(operator, Graded):
            found += _kept(operator.code, operator.knobs(case), problems)
    return found


def singles(case: Case, problems: list[str], operators: Iterable[Operator] | None = None) -> list[Mutation]:
    """All mutations that no knob covers; two with the same edits count once."""
    found: dict[FileEdits, Mutation] = {}
    for operator in OPERATORS.all() if operators is None else operators:
        own = operator.propose(case)
        if isinstance(operator, PartlyGraded):
            own = operator.others(case)
        elif isinstance(operator, Graded) and _kept(operator.code, operator.knobs(case), []):
            own = iter(())
        for each in _kept(operator.code, own, problems):
            found.setdefault(each.edits, each)
    return list(found.values())


def _kept(code: str, items: Iterator[Item], problems: list[str]) -> list[Item]:
    """What an operator gives until it fails: one program that it cannot read must not cost the others."""
    found: list[Item] = []
    try:
        for each in items:
            found.append(each)
    except UsageError:
        raise  # what was wished for cannot be done, whatever the program
    except Exception as problem:  # noqa: BLE001 - told in `problems`
        problems.append(f"{code} failed ({type(problem).__name__}: {problem})")
    return found
