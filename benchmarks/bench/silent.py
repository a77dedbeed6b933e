"""Silent training bugs of the TrainCheck evaluation: what a check that compares with healthy reference runs found, and what netmend tells without any.

Programs exist for the bugs whose mechanism fits into seconds on a CPU; each has a twin without the bug.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from bench.bugs21 import alarm_remarks, mark
from bench.labelled import FAULTY
from bench.labelled_run import LabelledRun, counts
from netmend.report.content import Column, Grid, Number, Remark


@functools.cache
def facts() -> Mapping[str, Any]:
    """What was published."""
    text = (files("bench") / "data" / "silent.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def grids(runs: Sequence[LabelledRun]) -> Iterator[Grid]:
    elsewhere = facts()["mentioned_elsewhere_by_the_same_project"]
    rows = []
    for bug, of_the_18 in [*((b, True) for b in facts()["bugs"]), *((b, False) for b in elsewhere)]:
        own = [run for run in runs if run.name == bug["id"] and run.kind == FAULTY]
        if not own and bug["small_cpu_version_possible"]:
            continue  # left out by --only
        told = own[0].told[0].cause if own and own[0].told else "–"
        published = ("yes" if bug.get("in_published_artifact") else "claimed") if of_the_18 else "–"
        rows.append(
            (
                bug["id"],
                published,
                told if own else "not run here",
                mark(all(run.judged.first for run in own)) if own else "",
                mark(all(run.judged.line for run in own)) if own else "",
                str(bug["what_goes_wrong"]),
            )
        )
    columns = (
        Column("bug"),
        Column("TrainCheck"),
        Column("told first (measured)"),
        Column("cause"),
        Column("line"),
        Column("what goes wrong", spare=1),
    )
    yield Grid(
        columns,
        tuple(rows),
        "Silent bugs",
        "TrainCheck, published: yes = detected in its artifact, claimed = in its text only, – = mentioned elsewhere by the same project. "
        "not run here: needs several GPUs, old versions or large models.",
    )
    yield _totals(runs)


def _totals(runs: Sequence[LabelledRun]) -> Grid:
    published, own = facts()["published"], counts(runs)
    rows = (
        (
            "TrainCheck, claimed",
            "published",
            f"{published['claimed_detected']} of {published['bugs']}",
            "",
            "",
        ),
        ("TrainCheck, artifact", "published", f"{published['in_artifact']} of {published['bugs']}", "", ""),
        (
            "netmend run",
            "measured",
            *(f"{own[name]} of {own['faulty']}" for name in ("detected", "first", "line")),
        ),
    )
    return Grid(
        (
            Column("tool"),
            Column("by"),
            Number("detected"),
            Number("cause told first"),
            Number("right line"),
        ),
        rows,
        "Totals",
        "TrainCheck infers what should hold from healthy runs of other programs; netmend gets the faulty run alone, of a small program of "
        "the same mechanism.",
    )


def remarks(runs: Sequence[LabelledRun]) -> Iterator[Remark]:
    yield from alarm_remarks(runs, "the twins without the bug")
