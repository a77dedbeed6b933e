"""All figures of a run as plain data: what tables show and the JSON file keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from bench.locate.denchmark import Report
from bench.locate.fusing import Results
from bench.locate.groups import Label, groups, leaks
from bench.locate.metrics import Figures, difference, figures
from bench.locate.protocol import Protocol
from bench.locate.published import BEST_MAP, CAVEAT, OVERALL


@dataclass(frozen=True)
class Summary:
    """Figures by kind of group, group and method."""

    protocol: Protocol
    figures: Mapping[str, Mapping[str, Mapping[str, Figures]]]
    gains: Mapping[
        str, tuple[float, float, float]
    ]  # MAP of `ours` minus each other method's, with its interval
    ours: str
    leaks: Mapping[str, int]
    projects: int
    reports: int
    absent: int  # reports none of whose fixed files is a candidate


def summarise(
    results: Mapping[str, Results],
    ours: str,
    reports: Sequence[Report],
    labels: Mapping[str, Label],
    protocol: Protocol,
) -> Summary:
    project_of = {report.id: report.project for report in reports}
    candidates = {name: ranked.candidates for name, ranked in results[ours].items()}
    searched = [report for report in reports if report.id in candidates]
    by_group = {
        kind: {
            group: {
                method: figures({name: found[name] for name in names}, project_of)
                for method, found in results.items()
            }
            for group, names in members.items()
        }
        for kind, members in groups(searched, candidates, labels).items()
    }
    return Summary(
        protocol,
        by_group,
        {method: difference(results[ours], found) for method, found in results.items() if method != ours},
        ours,
        leaks(searched),
        len({report.project for report in searched}),
        len(searched),
        sum(not ranked.ranks for ranked in results[ours].values()),
    )


def as_data(
    summary: Summary, results: Mapping[str, Results], notes: Mapping[str, object]
) -> dict[str, object]:
    """For a JSON file: figures, what was chosen, and every report's ranks (ids and numbers, no text of a report)."""
    return {
        "benchmark": "locate",
        "protocol": asdict(summary.protocol),
        "ties": "by path",
        "projects": summary.projects,
        "reports": summary.reports,
        "no fixed file among the candidates": summary.absent,
        "leaks": dict(summary.leaks),
        "figures": {
            kind or "all": {
                group: {method: _rounded(one) for method, one in methods.items()}
                for group, methods in members.items()
            }
            for kind, members in summary.figures.items()
        },
        "MAP gained": {
            method: {"mean": round(mean, 4), "low": round(low, 4), "high": round(high, 4)}
            for method, (mean, low, high) in summary.gains.items()
        },
        "published": {
            "caveat": CAVEAT,
            "overall": {row.method: row.values for row in OVERALL},
            "best MAP": dict(BEST_MAP),
        },
        **notes,
        "ranks": {
            method: {
                name: [ranked.candidates, ranked.gold, *ranked.ranks]
                for name, ranked in sorted(found.items())
            }
            for method, found in results.items()
        },
    }


def _rounded(one: Figures) -> dict[str, object]:
    return {
        "reports": one.reports,
        "candidates": round(one.candidates, 1),
        **{
            name: {
                "mean": round(one.mean[name], 4),
                "low": round(one.low[name], 4),
                "high": round(one.high[name], 4),
                "projects": round(one.macro[name], 4),
            }
            for name in one.mean
        },
    }
