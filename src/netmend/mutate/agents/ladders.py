"""What operators for reinforcement learning share: ladders of ever stronger faults of one kind.

A ladder goes away from the program as it is in one direction: gamma 0.98 → 0.95 → 0.9 …. The search climbs it to find the mildest fault
that is still killed, which is the one that tells good test environments from bad ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from netmend.changes.case import Case
from netmend.mutate.agents.environment_source import made_at, wrapped
from netmend.mutate.agents.places import training
from netmend.mutate.mutation import OPERATORS, Mutation, Operator
from netmend.program.source.values import Faces
from netmend.testing.example import Example, titled
from netmend.vocabulary.change import FileEdits

DOWN, UP, ON = "down", "up", "on"  # below the present value, above it, a fault that is there or not


@dataclass(frozen=True)
class Ladder:
    """Mutations of one operator in one direction, the mildest first."""

    operator: str
    published: str  # code of the published operator; "" for one of our own
    title: str
    direction: str
    steps: tuple[Mutation, ...]
    values: tuple[float, ...]  # of the steps, in the unit of the setting
    grades: tuple[float, ...]  # of the steps: how far from the program as it is, up to 1


class RlOperator(Operator):
    """Base of the operators M701 …: each says what it needs, its range and its direction, and climbs ladders."""

    rescales = True  # returns and losses of other rewards or discounts cannot be compared
    needs: str  # in words, for the page
    title: str

    def ladders(self, case: Case) -> Iterator[Ladder]:
        raise NotImplementedError

    def propose(self, case: Case) -> Iterator[Mutation]:
        for ladder in self.ladders(case):
            yield from ladder.steps

    def ladder(
        self,
        direction: str,
        values: Sequence[float],
        edits: Callable[[float], FileEdits | Faces],
        words: Callable[[float], str],
        component: str,
        cause: str = "",
    ) -> Iterator[Ladder]:
        """One ladder of the values for which edits can be made; none where there is no such value."""
        rungs = [
            (step, value, index / len(values))
            for index, value in enumerate(values, 1)
            for step in self.mutation(
                words(value), edits(value), cause=cause, component=component, value=value
            )
        ]
        if rungs:
            way = {DOWN: ", lower", UP: ", higher", ON: ""}[direction]
            published = self.published[0] if self.published else ""
            yield Ladder(self.code, published, f"{self.title}{way}", direction, *zip(*rungs, strict=True))

    def single(self, edits: FileEdits, words: str, component: str) -> Iterator[Ladder]:
        """A fault that is there or not."""
        yield from self.ladder(ON, (1.0,), lambda _: edits, lambda _: words, component)


@dataclass(frozen=True, kw_only=True)
class Row(RlOperator):
    """An operator that is a row of a table; `page` stands for the docstring of its class."""

    code: str = field(kw_only=False)
    title: str = field(kw_only=False)
    page: str
    causes: tuple[str, ...]
    published: tuple[str, ...] = ()
    down_cause: str = ""  # default: the first of the causes
    up_cause: str = ""


OneRow = TypeVar("OneRow", bound=Row)


def register_rows(rows: Sequence[OneRow], examples: Callable[[OneRow], Mapping[str, Example]]) -> None:
    """Each row becomes a unit of its own: its facts are those of a class."""
    for row in rows:
        facts = {name: staticmethod(value) if callable(value) else value for name, value in vars(row).items()}
        shown = tuple(name for name in ("numbers", "shares", "factors") if facts.get(name))
        own = {"__doc__": row.page, "__init__": object.__init__, "SHOWN": shown}
        own["EXAMPLES"] = titled(examples(row))
        OPERATORS.register(type(row.code, (type(row),), facts | own))


@dataclass(frozen=True, kw_only=True)
class SettingRow(Row):
    """Gives a setting of the algorithm, or the number of steps, other values."""

    setting: str = field(kw_only=False)
    needs: str
    numbers: tuple[float, ...] = ()  # other values, in any order
    shares: tuple[float, ...] = ()  # of the number of training steps
    factors: tuple[float, ...] = ()  # of the present value, up and down
    algorithms: tuple[str, ...] = ()  # empty: all that have the setting
    whole: bool = False
    one_way: str = ""  # DOWN or UP where only that direction is a fault
    examples: Mapping[str, Example]

    def values(self, present: float, steps: float | None) -> Iterable[float]:
        yield from self.numbers
        for factor in self.factors:
            yield from (present * factor, present / factor)
        if steps is not None:
            yield from (share * steps for share in self.shares)

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        if here is None or (self.algorithms and here.algorithm.name not in self.algorithms):
            return
        total = here.steps(case)
        setting = total if self.setting == "total_timesteps" else here.setting(case, self.setting)
        if setting is None:
            return
        present = setting.value
        values = self.values(present, None if total is None else total.value)
        wanted = {float(max(1, round(value)) if self.whole else value) for value in values}
        below = sorted((value for value in wanted if value < present), reverse=True)
        above = sorted(value for value in wanted if value > present)
        for direction, own, cause in ((DOWN, below, self.down_cause), (UP, above, self.up_cause)):
            if own and self.one_way in ("", direction):
                yield from self.ladder(
                    direction,
                    own,
                    lambda value: setting.put(case, self._text(value)),
                    lambda value: f"{self.setting} {self._text(present)} → {self._text(value)}",
                    here.algorithm.name,
                    cause,
                )

    def _text(self, value: float) -> str:
        return str(round(value)) if self.whole else f"{value:.10g}"


@dataclass(frozen=True, kw_only=True)
class WrapperRow(Row):
    """Puts a wrapper with a fault around the environment that the program trains in."""

    needs: str = "an environment whose making can be found in the source: an id, gym.make, make_vec_env, or a class of the program's"
    wrapper: str = field(kw_only=False)  # name of the class
    definition: str  # its text; {gym} and {value} are filled in
    words: str | Callable[[float], str]  # title of a value, {value:g} stands for it
    down: tuple[float, ...] = ()  # mildest first
    up: tuple[float, ...] = ()
    on: tuple[float, ...] = ()

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        place = None if here is None else made_at(case, here)
        if place is None:
            return
        for direction, values, cause in (
            (DOWN, self.down, self.down_cause),
            (UP, self.up, self.up_cause),
            (ON, self.on, ""),
        ):
            if values:
                yield from self.ladder(
                    direction,
                    values,
                    lambda value: wrapped(place, self.wrapper, self.text(value)),
                    self._title,
                    "environment",
                    cause,
                )

    def text(self, value: float) -> str:
        return self.definition.replace("{value}", f"{value:g}")

    def _title(self, value: float) -> str:
        return self.words.format(value=value) if isinstance(self.words, str) else self.words(value)
