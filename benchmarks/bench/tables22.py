"""The tables of `netmend bench faults22`, for a terminal of 80 columns and more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bench.baselines import MEASURED, PUBLISHED, RECOMPUTED, Row
from bench.faults22.facts import Atom
from bench.scores import Score
from bench.summary22 import Line, Summary
from netmend.report.content import Column, Grid, Number

NONE = "–"
_SHORT = {PUBLISHED: "pub", RECOMPUTED: "rec", MEASURED: "our"}


def grids(summary: Summary) -> Iterator[Grid]:
    yield answers(summary.lines)
    yield scores(summary.lines)
    if any(line.repair is not None for line in summary.lines):
        yield repairs(summary.lines)
    for part, rows in summary.rows.items():
        yield totals(part, rows, explained=part == "all")
    yield intervals(summary)


def answers(lines: Sequence[Line]) -> Grid:
    return Grid(
        (
            Column("fault"),
            Column("known to be wrong"),
            Column("told most often"),
            Number("stable"),
            Column("told on the fixed one"),
        ),
        tuple(
            (
                _name(line),
                _spelled(line.truth),
                _spelled(line.answer),
                f"{line.stable:.0%}",
                _spelled(line.on_fixed),
            )
            for line in lines
        ),
        "Answers, measured",
        "* on stand-in data. stable: share of the trainings of the buggy program with the answer given most often. Layers count from 0.",
    )


def scores(lines: Sequence[Line]) -> Grid:
    return Grid(
        (
            Column("fault"),
            Number("RC   PR   F3"),
            Number("after neutr."),
            Number("atom F3"),
            Number("training s"),
            Number("told after s", spare=1),
            Number("failed", spare=2),
        ),
        tuple(
            (
                _name(line),
                _triple(line.before),
                _triple(line.after),
                f"{_two(line.atom_before)} {_two(line.atom_after)}",
                f"{line.seconds:.1f}",
                f"{line.diagnosis_seconds:.2f}",
                str(line.failed) if line.failed else "",
            )
            for line in lines
        ),
        "Scores of the most frequent answer, measured",
        "after neutr.: other changes that repair the program count as right as well. atom: every pair of code and layer counts by itself and must "
        "be named; before and after neutrality.",
    )


def repairs(lines: Sequence[Line]) -> Grid:
    rows = []
    for line in lines:
        found = line.repair
        if found is None:
            continue
        rows.append(
            (
                _name(line),
                str(found["verdict"]),
                "yes" if found["verified"] else "no",
                _value(found["value_buggy"]),
                _value(found["value_patched"] if found["changes"] else None),
                _value(found["value_fixed"]),
                f"{found['changes']} / {found['known_changes']}",
                f"{found['trainings']:.1f}",
                f"{found['seconds']:.0f}",
            )
        )
    return Grid(
        (
            Column("fault"),
            Column("patch"),
            Column("verified"),
            Number("buggy"),
            Number("ours"),
            Number("known fix"),
            Number("changes", spare=1, hint="ours / of the known fix"),
            Number("trainings", spare=2),
            Number("s", spare=3),
        ),
        tuple(rows),
        "Repairs, measured",
        "verified: proven over seeds, and as good as the known fix within that fix's noise. Values are means over seeds that nothing else used.",
    )


def totals(part: str, rows: Sequence[Row], explained: bool = True) -> Grid:
    return Grid(
        (
            Column("answer"),
            Column("by"),
            Number("RC   PR   F3"),
            Number("after neutr."),
            Number("atom F3"),
            Number("codes"),
            Number("s", spare=1),
        ),
        tuple(
            (
                row.name,
                _SHORT[row.origin],
                _triple(row.before),
                _triple(row.after),
                f"{_two(row.atom_before)} {_two(row.atom_after)}",
                NONE if row.codes is None else f"{row.codes:.1f}",
                NONE if row.seconds is None else f"{row.seconds:.0f}",
            )
            for row in rows
        ),
        f"{'All faults' if part == 'all' else f'{part.capitalize()} faults'}: means",
        "pub: published. rec: recomputed from the tools' published outputs, with the corrected alternatives; `always` never looks at the "
        "program and answers the same 5, 7 or 14 codes. our: measured here. codes: per program. s: per fault, repair: of all its trainings."
        if explained
        else "",
    )


def intervals(summary: Summary) -> Grid:
    parts = tuple(summary.intervals)
    measures = summary.intervals["all"]
    return Grid(
        (Column("netmend run, mean over seeds"), *(Number(part) for part in parts)),
        tuple(
            (name, *("{:.2f} ({:.2f}–{:.2f})".format(*summary.intervals[part][name]) for part in parts))
            for name in measures
        ),
        "Intervals, measured",
        "95 % by bootstrap over programs and seeds.",
    )


def _name(line: Line) -> str:
    return f"{line.id}*" if line.stand_in else line.id


def _spelled(atoms: Iterable[Atom]) -> str:
    return " ".join(map(str, atoms)) or NONE


def _triple(score: Score) -> str:
    return f"{score.rc:.2f} {score.pr:.2f} {score.f3:.2f}"


def _two(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _value(value: float | None) -> str:
    return NONE if value is None else f"{value:.3g}"
