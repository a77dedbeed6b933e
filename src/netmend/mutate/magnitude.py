"""Magnitudes: faults whose strength can be turned, from none at all to extreme.

A knob is one such fault at one place of a program. `knobs` are searched for the mildest value that a test notices; `singles`
are all other mutations, which are there or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.mutate.mutation import OPERATORS, Mutation, Operator, until_failure
from netmend.mutate.verdicts import Verdict
from netmend.program.source.values import Faces
from netmend.vocabulary.change import FileEdits

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


@dataclass(frozen=True)
class Found:
    """What the search knows about one ordered fault on one set of data."""

    killed: float | None  # the mildest value found to be killed; None: none is
    survived: float  # the strongest milder value not killed; the scale's mildest end (no fault) where none was tried
    tried: tuple[tuple[float, Verdict], ...]  # in the order in which they were asked

    @property
    def verdicts(self) -> dict[float, Verdict]:
        return dict(self.tried)


def mildest_killed(scale: Scale, killed: Callable[[float], Verdict], known: Sequence[float] = ()) -> Found:
    """`killed` is asked once for each value. A range of which not even the extreme is killed is given up at once."""
    verdicts: dict[float, Verdict] = {}

    def ask(value: float) -> bool:
        if value not in verdicts:
            verdicts[value] = killed(value)
        return verdicts[value].killed

    start = [scale.extreme, *(value for value in known if value != scale.mildest)]
    dead = [value for value in start if ask(value)]
    if not dead:
        return Found(None, scale.extreme, tuple(verdicts.items()))
    upper = min(dead, key=scale.position)
    milder = [value for value in start if not ask(value) and scale.position(value) < scale.position(upper)]
    lower = max(milder, key=scale.position, default=scale.mildest)
    while not _close(scale, lower, upper):
        middle = scale.fitted(_middle(scale, lower, upper))
        if not scale.position(lower) < scale.position(middle) < scale.position(upper):
            break  # nothing that can be set lies between
        if ask(middle):
            upper = middle
        else:
            lower = middle
    return Found(upper, lower, tuple(verdicts.items()))


def _middle(scale: Scale, lower: float, upper: float) -> float:
    return math.sqrt(lower * upper) if scale.logarithmic else (lower + upper) / 2


def _close(scale: Scale, lower: float, upper: float) -> bool:
    allowed = scale.precision * (1 + 1e-9)  # 0.3 - 0.2 is not more than 0.1
    if scale.logarithmic:
        return max(lower, upper) <= min(lower, upper) * allowed
    return abs(upper - lower) <= allowed


@dataclass(frozen=True, eq=False)
class Knob:
    """One fault at one place whose strength can be chosen."""

    operator: str  # code, "M101"
    title: str  # what is turned: "learning rate lowered"
    scale: Scale
    at: Callable[[float], Mutation | None]  # None: at that value the program is as it was
    cause: str = ""
    component: str = ""


class Graded(Operator):
    """Base of the operators whose faults have a strength."""

    values: tuple[float, ...]  # proposed where no strength is asked for
    only_turned: bool = False  # where nothing can be turned, the fault could not be told from another one

    def knobs(self, case: Case) -> Iterator[Knob]:
        """What can be turned in a program; none where the place cannot be told for sure."""
        raise NotImplementedError

    def propose(self, case: Case) -> Iterator[Mutation]:
        for knob in self.knobs(case):
            for value in self.values_for(knob):
                mutation = knob.at(value)
                if mutation is not None:
                    yield mutation

    def values_for(self, knob: Knob) -> Iterable[float]:
        return self.values

    def others(self, case: Case) -> Iterator[Mutation]:
        """Faults that no knob covers: all, where nothing can be turned."""
        if not self.only_turned and next(self.knobs(case), None) is None:
            yield from self.propose(case)

    def knob(
        self,
        title: str,
        scale: Scale,
        edits: Callable[[float], FileEdits | Faces],
        *,
        cause: str = "",
        component: str = "",
        told: str | Callable[[float], str],
    ) -> Iterator[Knob]:
        """One knob, or none where not even its extreme can be written. `told`: title of a value, `{}` stands for it."""

        def at(value: float) -> Mutation | None:
            value = scale.fitted(value)
            if value == scale.mildest:
                return None
            text = told(value) if callable(told) else told.format(f"{value:g}")
            return next(
                self.mutation(text, edits(value), cause=cause, component=component, value=value), None
            )

        if at(scale.extreme) is not None:
            yield Knob(self.code, title, scale, at, cause or self.causes[0], component)


def knobs(case: Case, problems: list[str], operators: Iterable[Operator] | None = None) -> list[Knob]:
    """Everything that can be turned in a program, by all operators or by some."""
    found: list[Knob] = []
    for operator in OPERATORS.all() if operators is None else operators:
        if isinstance(operator, Graded):
            found += until_failure(operator.code, operator.knobs(case), problems)
    return found


def singles(case: Case, problems: list[str], operators: Iterable[Operator] | None = None) -> list[Mutation]:
    """All mutations that no knob covers; two with the same edits count once."""
    found: dict[FileEdits, Mutation] = {}
    for operator in OPERATORS.all() if operators is None else operators:
        own = operator.others(case) if isinstance(operator, Graded) else operator.propose(case)
        for each in until_failure(operator.code, own, problems):
            found.setdefault(each.edits, each)
    return list(found.values())
