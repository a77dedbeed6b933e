"""Programs with a label each: the 21 published bugs and the silent ones, beside what published tools found."""

from __future__ import annotations

from typing import Any

from bench import bugs21, silent
from benchmark_page.results import Results
from benchmark_page.words import marked, share

BUGS21, SILENT = "bench-bugs21.json", "bench-silent.json"
_BUGS_AIM = 18
_NOT_SAID = ["–"] * 2


def sections(results: Results) -> dict[str, Any]:
    return {"bugs21": _bugs21(results), "silent": _silent(results)}


def _bugs21(results: Results) -> dict[str, Any] | None:
    data = results.read(BUGS21)
    if data is None:
        return None
    known = bugs21.facts()
    total, counted = len(known["bugs"]), known["counted"]
    rows = [[tool, "published", share(counted["found"][tool], total), *_NOT_SAID] for tool in bugs21.TOOLS]
    rows.append(["any of the three", "published", share(counted["found_by_any"], total), *_NOT_SAID])
    own = _counts(data)
    found = [
        marked(
            share(own[name], own["faulty"]),
            name != "detected" or own[name] * total >= _BUGS_AIM * own["faulty"],
        )
        for name in ("detected", "first", "line")
    ]
    rows.append(["**netmend run**", "measured", *found])
    return {
        "rows": rows,
        "aim": _BUGS_AIM,
        "count": total,
        "alarms": share(own["alarms"], own["healthy"]),
        "origin": results.origin(BUGS21),
    }


def _silent(results: Results) -> dict[str, Any] | None:
    data = results.read(SILENT)
    if data is None:
        return None
    known = silent.facts()
    published, small = known["published"], [b for b in known["bugs"] if b["small_cpu_version_possible"]]
    rows = [
        [
            "TrainCheck, claimed",
            "published",
            share(published["claimed_detected"], published["bugs"]),
            *_NOT_SAID,
            "–",
        ],
        [
            "TrainCheck, in its artifact",
            "published",
            share(published["in_artifact"], published["bugs"]),
            *_NOT_SAID,
            "–",
        ],
    ]
    own = _counts(data)
    names = {run["name"] for run in data["runs"] if run["kind"] == "faulty" and run["judged"]["first"]}
    reached = all(bug["id"] in names for bug in small)
    found = [share(own[name], own["faulty"]) for name in ("detected", "first", "line")]
    found[1] = marked(found[1], reached)
    rows.append(["**netmend run**", "measured", *found, share(own["alarms"], own["healthy"])])
    return {
        "rows": rows,
        "aim": f"a right cause for all {len(small)} of the {published['bugs']} that fit on a CPU, without a reference run",
        "missed": ", ".join(bug["id"] for bug in small if bug["id"] not in names),
        "origin": results.origin(SILENT),
    }


def _counts(data: dict[str, Any]) -> dict[str, int]:
    """From the runs themselves, not from the summary that stands in the file."""
    faulty = [run["judged"] for run in data["runs"] if run["kind"] == "faulty"]
    healthy = [run["judged"] for run in data["runs"] if run["kind"] == "healthy"]
    return {
        "faulty": len(faulty),
        "healthy": len(healthy),
        "alarms": sum(run["detected"] for run in healthy),
        **{name: sum(run[name] for run in faulty) for name in ("detected", "first", "line")},
    }
