"""Mutation testing as one self-contained HTML page: scores, a picture, what is missed with its patch, then tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup

from netmend.mutate.outcomes import COUNTED
from netmend.mutate.result import SOURCE, WEIGHT_LEVEL, Mutant, MutationResult
from netmend.mutate.test_sets import TRAINING
from netmend.report.content import Column, Grid
from netmend.report.figures import Figure
from netmend.report.mutate.bars import DETECTED, INCONCLUSIVE, MISSED, bar_charts, standing
from netmend.report.mutate.words import (
    addition_remarks,
    end_remarks,
    mutant_row,
    operators_grid,
    score_sentence,
    score_words,
    sets_grid,
    start_remarks,
    start_words,
    survivors,
    verdict_words,
)
from netmend.report.numbers import alike, plural
from netmend.report.repair.patch import FILE, HUNK, NEW, OLD, DiffLine
from netmend.report.repair.patch import SAME as SAME_LINE
from netmend.report.signs import harmless
from netmend.report.templates import templates

_CLASSES = {"good": "healthy", "warn": "undecided", "bad": "faulty"}  # of the style sheet
_KINDS = {"@": HUNK, "-": OLD, "+": NEW}
_MOST_ADDITIONS = 50


@dataclass(frozen=True)
class _Survivor:
    """A mutant that some test set misses, ready to be shown."""

    title: str
    beside: str
    clear: bool  # not only too close to call
    lines: tuple[DiffLine, ...]


def mutate_html(result: MutationResult) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    tone, words = verdict_words(result)
    names = ("page.css", "repair.css", "mutate.css")
    return environment.get_template("mutate.html").render(
        title=f"{start_words(result)}: {words} – netmend",
        style=Markup("\n".join(environment.get_template(name).render() for name in names)),
        verdict=(_CLASSES[tone], f"{words[:1].upper()}{words[1:]}"),
        headline=start_words(result),
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
        lines = mutant.patch.splitlines()
        shown = [DiffLine(FILE, harmless(line)) for line in lines[:2]]
        shown += [DiffLine(_KINDS.get(line[:1], SAME_LINE), harmless(line)) for line in lines[2:]]
        judged = {test: standing(mutant, test) for test in tests}
        beside = "; ".join(
            f"{words} {', '.join(own)}"
            for name, words in ((MISSED, "missed by"), (INCONCLUSIVE, "too close to call on"))
            if (own := [test for test in tests if judged[test] == name])
        )
        clear = MISSED in judged.values()
        found.append(_Survivor(alike(f"{mutant.operator} {mutant.title}"), beside, clear, tuple(shown)))
    return sorted(found, key=lambda each: not each.clear)


def _mutants(result: MutationResult, level: str) -> Grid:
    tests = (TRAINING, *(each.name for each in result.sets))
    columns = (
        Column("operator"),
        Column("mutant"),
        Column("place"),
        Column("runs", numeric=True),
        *(Column(test, hint="d: how many standard deviations worse") for test in tests),
        Column("standing"),
    )
    own = [mutant for mutant in result.mutants if mutant.level == level]
    return Grid(columns, tuple(mutant_row(mutant, tests) for mutant in own))
