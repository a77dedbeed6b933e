"""Mutation testing as a page: scores, for each operator a bar of what a test set notices, what is missed with its patch, tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from netmend.mutate.result import SOURCE, WEIGHT_LEVEL, Mutant, MutationResult
from netmend.mutate.scoring import COUNTED
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.verdicts import DETECTED, INCONCLUSIVE, MISSED, Verdict
from netmend.report.content import Column, DiffLine, Figure, Grid, Number, clean
from netmend.report.mutate.document import (
    addition_remarks,
    end_remarks,
    mutation_document,
    operator_words,
    operators_grid,
    score_sentence,
    score_words,
    sets_grid,
    start_remarks,
    survivors,
)
from netmend.report.numbers import UNKNOWN, alike, measure, plural
from netmend.report.patches import patch_lines, start_words
from netmend.report.templates import page

_MOST_ADDITIONS = 50


@dataclass(frozen=True)
class _Survivor:
    """A mutant that some test set misses, ready to be shown."""

    title: str
    beside: str
    clear: bool  # not only too close to call
    lines: tuple[DiffLine, ...]


def mutation_page(result: MutationResult) -> str:
    return page(
        "mutate/page.html",
        mutation_document(result),
        clean(start_words(result.script, result.arguments)),
        styles=("mutate/page.css",),
        figures=tuple(_figures(result)),
        score=score_sentence(result),
        charts=tuple(bar_charts(result)),
        parts=(DETECTED, MISSED, INCONCLUSIVE),
        opening=tuple(start_remarks(result)),
        sets=replace(sets_grid(result).filled(), caption=""),  # the section is called so
        operators=replace(operators_grid(result, SOURCE), caption=""),
        weights=operators_grid(result, WEIGHT_LEVEL),
        survivors=_survivors(result),
        additions=tuple(addition_remarks(result, _MOST_ADDITIONS)),
        mutants=_mutants(result, SOURCE),
        of_weights=_mutants(result, WEIGHT_LEVEL),
        cost=tuple(end_remarks(result)),
    )


def _figures(result: MutationResult) -> Iterator[Figure]:
    for each in result.sets:
        beside = f"mean over {plural(each.source.defined, 'operator')}"
        yield Figure(f"score of {each.name}", score_words(each.source.score), beside)
    own = [mutant for mutant in result.mutants if mutant.level == SOURCE]
    if own:
        counted = sum(mutant.standing == COUNTED for mutant in own)
        yield Figure("mutants", str(len(own)), f"{counted} count; {plural(result.trainings, 'training')}")


def _survivors(result: MutationResult) -> list[_Survivor]:
    """Those that are plainly missed first."""
    missed: dict[str, tuple[Mutant, list[str]]] = {}
    for each in result.sets:
        for mutant in survivors(result, each.name):
            missed.setdefault(mutant.name, (mutant, []))[1].append(each.name)
    found = []
    for mutant, tests in missed.values():
        lines = tuple(patch_lines(mutant.patch.splitlines()))
        judged = {test: mutant.judged_by(test) for test in tests}
        beside = "; ".join(
            f"{words} {', '.join(own)}"
            for name, words in ((MISSED, "missed by"), (INCONCLUSIVE, "too close to call on"))
            if (own := [test for test in tests if judged[test] == name])
        )
        clear = MISSED in judged.values()
        found.append(_Survivor(alike(f"{mutant.operator} {mutant.title}"), beside, clear, lines))
    return sorted(found, key=lambda each: not each.clear)


def _mutants(result: MutationResult, level: str) -> Grid:
    def verdict_in(test: str) -> Column:
        hint = "d: how many standard deviations worse"
        return Column(test, lambda mutant: _verdict_words(mutant.verdicts.get(test)), hint=hint)

    return Grid.of(
        (mutant for mutant in result.mutants if mutant.level == level),
        Column("operator", lambda mutant: mutant.operator),
        Column("mutant", lambda mutant: alike(clean(mutant.title))),
        Column("place", lambda mutant: clean(mutant.place)),
        Number("runs", lambda mutant: str(mutant.runs)),
        *map(verdict_in, (TRAINING, *(each.name for each in result.sets))),
        Column(
            "standing",
            lambda mutant: mutant.standing + (f": {clean(mutant.note)[:120]}" if mutant.note else ""),
        ),
    )


def _verdict_words(verdict: Verdict | None) -> str:
    """Verdict and effect on a set."""
    if verdict is None:
        return UNKNOWN
    said = "killed" if verdict.killed else "survives"
    sure = "" if verdict.is_clear else ", not clearly"
    return f"{said}{sure} (d {measure(verdict.effect_size)})"


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
    judged = [one.judged_by(test) for one in own]
    parts = tuple((name, judged.count(name)) for name in (DETECTED, MISSED, INCONCLUSIVE) if name in judged)
    return Bar(code, operator_words(code), parts)
