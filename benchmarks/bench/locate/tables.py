"""The tables of `netmend bench locate`."""

from __future__ import annotations

from collections.abc import Iterator

from bench.locate.metrics import Figures
from bench.locate.published import BEST_MAP, CAVEAT, OVERALL, least_possible_mrr
from bench.locate.summing import Summary
from netmend.report.content import Column, Grid, Number, Remark

_SHOWN = {"top1": "Top@1", "top5": "Top@5", "top10": "Top@10", "rr": "MRR", "ap": "MAP"}


def grids(summary: Summary) -> Iterator[Grid]:
    yield overall(summary)
    yield published()
    for kind in summary.figures:
        if kind:
            yield by_group(summary, kind)


def overall(summary: Summary) -> Grid:
    (methods,) = summary.figures[""].values()
    rows = []
    for method, found in sorted(methods.items(), key=lambda item: -item[1].mean["ap"]):
        gain = summary.gains.get(method)
        rows.append(
            (
                method,
                *(_three(found.mean[name]) for name in _SHOWN),
                f"{_three(found.low['ap'])}–{_three(found.high['ap'])}",
                _three(found.macro["ap"]),
                "" if gain is None else f"+{gain[0]:.3f}" if gain[0] > 0 else f"{gain[0]:.3f}",
            )
        )
    return Grid(
        (
            Column("method"),
            *(Number(title) for title in _SHOWN.values()),
            Number("MAP, 95 %", spare=1),
            Number("by project", spare=2),
            Number("ahead", spare=1),
        ),
        tuple(rows),
        f"Measured: {summary.reports:,} reports of {summary.projects} projects, {summary.protocol.files} files, "
        f"at {summary.protocol.at}",
        "by project: mean of the projects' MAP. ahead: MAP of netmend minus this one's, report by report.",
    )


def published() -> Grid:
    return Grid(
        (
            Column("method"),
            *(Number(title) for title in _SHOWN.values()),
            Number("least MRR", spare=1),
        ),
        tuple(
            (row.method, *(_three(value) for value in row.values), _three(least_possible_mrr(row)))
            for row in OVERALL
        ),
        "Published, for reference",
        f"{CAVEAT}. least MRR: what Top@k imply on one set of reports.",
    )


def by_group(summary: Summary, kind: str) -> Grid:
    """MAP of every method in each group, and all figures of ours."""
    members = summary.figures[kind]
    others = sorted(summary.gains, key=lambda method: summary.gains[method][0])  # the nearest first
    rows = []
    for group, methods in members.items():
        ours: Figures = methods[summary.ours]
        best = BEST_MAP.get(group)
        rows.append(
            (
                group,
                f"{ours.reports:,}",
                *(_three(ours.mean[name]) for name in _SHOWN),
                *(_three(methods[other].mean["ap"]) for other in others),
                "" if best is None else _three(best),
            )
        )
    columns = (
        Column(kind),
        Number("reports"),
        *(Number(title) for title in _SHOWN.values()),
        *(Number(other, spare=1 + number) for number, other in enumerate(others)),
        Number("published", spare=1),
    )
    return Grid(
        columns,
        tuple(rows),
        f"By {kind}",
        "Of the other methods the MAP; published: the best MAP of five methods.",
    ).filled()


def remarks(summary: Summary, notes: dict[str, str]) -> Iterator[Remark]:
    for what, count in summary.leaks.items():
        yield Remark("leak", f"{count:,} of {summary.reports:,} reports: {what}")
    if summary.absent:
        yield Remark(
            "absent",
            f"{summary.absent} reports have no fixed file among the candidates; they count as not found",
        )
    for label, text in notes.items():
        yield Remark(label, text)


def _three(value: float) -> str:
    return f"{value:.3f}"
