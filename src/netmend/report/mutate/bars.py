"""The picture of a mutation test: for each operator a bar of what a test set notices, misses, or leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.mutate.outcomes import COUNTED
from netmend.mutate.result import SOURCE, Mutant, MutationResult
from netmend.report.content import clean
from netmend.report.mutate.words import operator_words

DETECTED, MISSED, INCONCLUSIVE = "detected", "missed", "inconclusive"  # also classes of the style sheet


@dataclass(frozen=True)
class Bar:
    """One operator: how many of its mutants are detected, missed, inconclusive; those without any are left out."""

    code: str
    words: str
    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class BarChart:
    """The bars of one test set, worst first."""

    name: str
    bars: tuple[Bar, ...]
    widest: int  # mutants of the longest bar: bars of one page share a scale


def bar_charts(result: MutationResult) -> Iterator[BarChart]:
    counted = [one for one in result.mutants if one.standing == COUNTED and one.level == SOURCE]
    codes = list(dict.fromkeys(one.operator for one in counted))
    widest = max((sum(one.operator == code for one in counted) for code in codes), default=0)
    for each in result.sets:
        bars = [_bar(code, [one for one in counted if one.operator == code], each.name) for code in codes]
        if bars:
            worst_first = sorted(bars, key=lambda bar: (-dict(bar.parts).get(MISSED, 0), bar.code))
            yield BarChart(clean(each.name), tuple(worst_first), widest)


def _bar(code: str, own: list[Mutant], test: str) -> Bar:
    judged = [standing(one, test) for one in own]
    parts = tuple((name, judged.count(name)) for name in (DETECTED, MISSED, INCONCLUSIVE) if name in judged)
    return Bar(code, operator_words(code), parts)


def standing(mutant: Mutant, test: str) -> str:
    """What a test set makes of a mutant that counts."""
    if mutant.is_killed(test):
        return DETECTED
    return MISSED if mutant.is_clear(test) else INCONCLUSIVE
