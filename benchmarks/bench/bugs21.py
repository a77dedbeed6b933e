"""The 21 training bugs of a comparison of three dynamic localisers, beside what those found.

The study gives symptom and root cause of each bug and no program; ours are written from these, so it is the same list of bugs and
not the same experiment.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from bench.labelled import FAULTY, HEALTHY
from bench.labelled_run import LabelledRun, counts
from netmend.report.content import Column, Grid, Number, Remark

TOOLS = ("DeepLocalize", "DeepFD", "DeepDiagnosis")


@functools.cache
def facts() -> Mapping[str, Any]:
    """What was published."""
    text = (files("bench") / "data" / "bugs21.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def grids(runs: Sequence[LabelledRun]) -> Iterator[Grid]:
    bugs = {f"bug_{bug['no']:02}": bug for bug in facts()["bugs"]}
    rows = []
    for run in runs:
        if run.kind != FAULTY:
            continue
        bug = bugs.get(run.name, {})
        found = bug.get("found_by", {})
        rows.append(
            (
                run.name.removeprefix("bug_"),
                str(bug.get("root_cause", "")),
                run.told[0].cause if run.told else "–",
                mark(run.judged.first),
                mark(run.judged.line),
                "".join(
                    letter if found.get(tool) else "–" for tool, letter in zip(TOOLS, "LFD", strict=True)
                ),
                str(bug.get("symptom", "")),
            )
        )
    columns = (
        Number("bug"),
        Column("root cause (published)"),
        Column("told first (measured)"),
        Column("cause"),
        Column("line"),
        Column("pub"),
        Column("symptom (published)", spare=1),
    )
    yield Grid(
        columns,
        tuple(rows),
        "The 21 bugs",
        "cause: a right cause is told first. line: it is told at a right line (±1). pub: found by DeepLocalize (L), DeepFD (F), DeepDiagnosis (D), as published.",
    )
    yield _totals(runs)


def _totals(runs: Sequence[LabelledRun]) -> Grid:
    total, own = len(facts()["bugs"]), counts(runs)
    counted = facts()["counted"]
    rows: list[tuple[str, ...]] = [
        (tool, "published", f"{counted['found'][tool]} of {total}", "", "") for tool in TOOLS
    ]
    rows.append(("any of the three", "published", f"{counted['found_by_any']} of {total}", "", ""))
    cells = (f"{own[name]} of {own['faulty']}" for name in ("detected", "first", "line"))
    rows.append(("netmend run", "measured", *cells))
    return Grid(
        (
            Column("tool"),
            Column("by"),
            Number("found"),
            Number("cause told first"),
            Number("right line"),
        ),
        tuple(rows),
        "Totals",
        "The published tools ran on the original programs, netmend on programs written from symptom and root cause: not the same experiment.",
    )


def remarks(runs: Sequence[LabelledRun]) -> Iterator[Remark]:
    yield from alarm_remarks(runs, "mended programs")


def alarm_remarks(runs: Sequence[LabelledRun], what: str) -> Iterator[Remark]:
    """False alarms, and trainings that did not come to their end."""
    own = counts(runs)
    if own["healthy"]:
        yield Remark("false alarms", f"{own['alarms']} of {own['healthy']} trainings of {what}")
    for run in runs:
        if run.kind == HEALTHY and run.told:
            yield Remark("", f"{run.name}: {', '.join(told.cause for told in run.told)}", tone="muted")
    seconds = [run.seconds for run in runs]
    if seconds:
        told = sum(run.diagnosis_seconds for run in runs) / len(runs)
        yield Remark(
            "seconds", f"{sum(seconds) / len(seconds):.1f} for one training, {told:.2f} until it is told"
        )


def mark(value: bool) -> str:
    return "yes" if value else "no"
