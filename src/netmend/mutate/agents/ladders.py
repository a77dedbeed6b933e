"""What operators for reinforcement learning share: ladders of ever stronger faults of one kind.

A ladder goes away from the program as it is in one direction: gamma 0.98 → 0.95 → 0.9 …. The search climbs it to find the mildest fault
that is still killed, which is the one that tells good test environments from bad ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from netmend.mutate.agents.environment_source import made_at, wrapped
from netmend.mutate.agents.places import Setting, Training, training
from netmend.mutate.mutation import Mutation, mutation
from netmend.program.source.values import Faces
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits

if TYPE_CHECKING:
    from netmend.mutate.mutation import Operator

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


class RlOperator:
    """Base of the operators M701 …: each says what it needs, its range and its direction, and climbs ladders."""

    code: ClassVar[str]
    causes: ClassVar[tuple[str, ...]]
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True  # returns and losses of other rewards or discounts cannot be compared
    published: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[str]  # in words, for the page
    title: ClassVar[str]
    EXAMPLES: ClassVar[tuple[Example, ...]]

    def ladders(self, case: Case) -> Iterator[Ladder]:
        raise NotImplementedError

    def propose(self, case: Case) -> Iterator[Mutation]:
        for ladder in self.ladders(case):
            yield from ladder.steps

    def ladder(
        self,
        direction: str,
        values: Sequence[float],
        made: Callable[[float], FileEdits | Faces],
        words: Callable[[float], str],
        component: str,
        cause: str = "",
    ) -> Iterator[Ladder]:
        """One ladder of the values for which edits can be made; none where there is no such value."""
        steps: list[Mutation] = []
        kept: list[float] = []
        operator: Operator = self
        for index, value in enumerate(values, 1):
            found = mutation(
                operator,
                words(value),
                made(value),
                cause=cause,
                grade=index / len(values),
                component=component,
                parameter=f"{value:g}",
                value=value,
            )
            for each in found:
                steps.append(each)
                kept.append(value)
        if steps:
            shown = (
                self.title
                if direction == ON
                else f"{self.title}, {'lower' if direction == DOWN else 'higher'}"
            )
            code = self.published[0] if self.published else ""
            yield Ladder(self.code, code, shown, direction, tuple(steps), tuple(kept))

    def single(self, edits: FileEdits, words: str, component: str) -> Iterator[Ladder]:
        """A fault that is there or not."""
        yield from self.ladder(ON, (1.0,), lambda _: edits, lambda _: words, component)


class SettingOperator(RlOperator):
    """Gives a setting of the algorithm, or the number of steps, other values."""

    setting: ClassVar[str]
    algorithms: ClassVar[tuple[str, ...]] = ()  # empty: all that have the setting
    whole: ClassVar[bool] = False
    one_way: ClassVar[str] = ""  # DOWN or UP where only that direction is a fault
    down_cause: ClassVar[str] = ""
    up_cause: ClassVar[str] = ""

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        """All values in any order; `steps` is the length of the training, None where unknown."""
        raise NotImplementedError

    def found(self, case: Case, here: Training) -> Setting | None:
        return here.setting(case, self.setting)

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        if here is None or (self.algorithms and here.algorithm.name not in self.algorithms):
            return
        setting, total = self.found(case, here), here.steps(case)
        if setting is None:
            return
        present = setting.value
        wanted = {
            self._as_is(value) for value in self.values(present, None if total is None else total.value)
        }
        for direction, cause in ((DOWN, self.down_cause), (UP, self.up_cause)):
            own = sorted(
                (v for v in wanted if (v < present if direction == DOWN else v > present)),
                reverse=direction == DOWN,
            )
            if own and self.one_way in ("", direction):
                yield from self.ladder(
                    direction,
                    own,
                    lambda value: setting.put(case, self._text(value)),
                    lambda value: f"{self.setting} {self._text(present)} → {self._text(value)}",
                    here.algorithm.name,
                    cause,
                )

    def _as_is(self, value: float) -> float:
        return float(max(1, round(value))) if self.whole else float(value)

    def _text(self, value: float) -> str:
        return str(round(value)) if self.whole else f"{value:.10g}"


class WrapperOperator(RlOperator):
    """Puts a wrapper with a fault around the environment that the program trains in."""

    needs: ClassVar[str] = (
        "an environment whose making can be found in the source: an id, gym.make, make_vec_env, or a class of the program's"
    )
    wrapper: ClassVar[str]  # name of the class
    definition: ClassVar[str]  # its text; {gym} and {value} are filled in
    down: ClassVar[tuple[float, ...]] = ()  # mildest first
    up: ClassVar[tuple[float, ...]] = ()
    on: ClassVar[tuple[float, ...]] = ()
    down_cause: ClassVar[str] = ""
    up_cause: ClassVar[str] = ""

    def words(self, value: float) -> str:
        raise NotImplementedError

    def applies(self, here: Training) -> bool:
        return True

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        place = None if here is None or not self.applies(here) else made_at(case, here)
        if here is None or place is None:
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
                    lambda value: wrapped(
                        place, self.wrapper, self.definition.replace("{value}", f"{value:g}")
                    ),
                    self.words,
                    "environment",
                    cause,
                )
