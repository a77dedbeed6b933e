"""Which reports are looked at apart: category, type, extrinsic, size of the repository, what the report gives away."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.locate.denchmark import Report
from netmend.errors import UsageError

ALL = "all reports"
LARGE = (400, 600)
# Signals were made looking at the first; the second were searched when all but one (referenced) were settled.
KNOWN, UNSEEN = "commits named by the collection", "commits found in the history"
UNNAMED = ", names no fixed file"


@dataclass(frozen=True)
class Label:
    """What people who read the report said it is."""

    type: str
    extrinsic: bool


def read_labels(file: Path) -> dict[str, Label]:
    """`id,type,extrinsic` by report."""
    if not file.is_file():
        raise UsageError(f"--labels {file}: no such file; expected a CSV file with id,type,extrinsic")
    labels = {}
    with file.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            try:
                labels[row["id"]] = Label(row["type"], {"1": True, "0": False}[row["extrinsic"]])
            except KeyError as problem:
                raise UsageError(
                    f"--labels {file}, line {number}: {problem} is missing or wrong; expected id,type,extrinsic (1 or 0)"
                ) from problem
    return labels


def groups(
    reports: Sequence[Report], candidates: Mapping[str, int], labels: Mapping[str, Label]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Kind of group -> group -> ids of its reports; empty groups are left out."""
    kinds: dict[str, dict[str, list[str]]] = {}

    def put(kind: str, group: str, report: Report) -> None:
        kinds.setdefault(kind, {}).setdefault(group, []).append(report.id)

    for report in reports:
        put("", ALL, report)
        put("what the text gives away", "names a fixed file" if report.names_file else "names none", report)
        put("what the text gives away", _link(report), report)
        for least in LARGE:
            if candidates[report.id] >= least:
                put("candidates", f"{least} and more", report)
        if candidates[report.id] < LARGE[0]:
            put("candidates", f"under {LARGE[0]}", report)
        projects = KNOWN if report.given else UNSEEN
        put("projects", projects, report)
        if not report.names_file:
            put("projects", projects + UNNAMED, report)
        put("category", report.category or "none", report)
        label = labels.get(report.id)
        if label is not None:
            put("type (labelled)", label.type, report)
            put("cause (labelled)", "extrinsic" if label.extrinsic else "intrinsic", report)
    return {kind: {name: tuple(found[name]) for name in sorted(found)} for kind, found in kinds.items()}


def leaks(reports: Sequence[Report]) -> dict[str, int]:
    """How many reports give something away, and how many could not have been made in time."""
    return {
        "names a fixed file": sum(report.names_file for report in reports),
        "names the end of a fixed file's path": sum(report.names_path for report in reports),
        "links a commit or pull request": sum(report.links for report in reports),
        "fixed before it was opened": sum(report.fixed < report.opened for report in reports),
    }


def _link(report: Report) -> str:
    return "links a commit or pull request" if report.links else "links none"
