"""The repair study: netmend's rates at three budgets beside the four published searches."""

from __future__ import annotations

import statistics
from typing import Any

from bench import repair30
from bench.improvement import ENOUGH
from bench.repair_study import comparable, from_data, mean_rate, rate_of
from benchmark_page.results import Results
from benchmark_page.words import marked, number

FILE = "bench-repair.json"


def section(results: Results) -> dict[str, Any] | None:
    data = results.read(FILE)
    if data is None:
        return None
    searches = [from_data(item) for item in data["searches"]]
    same, budgets = comparable(searches), tuple(data["budgets"])
    known = [budget for budget in budgets if budget in repair30.budgets()]
    best = {b: max(repair30.published(tool, b, same) for tool in repair30.study().tools) for b in known}
    rows = []
    for title, proven_only in (("**netmend**", False), ("**netmend**, proven patches only", True)):
        rates = {b: mean_rate(searches, b, same, proven_only) or 0.0 for b in budgets}
        counts = [
            sum((rate_of(searches, name, b, proven_only) or 0.0) >= ENOUGH for name in same) for b in budgets
        ]
        shown = [marked(number(rates[b]), rates[b] > best.get(b, 0.0)) for b in budgets]
        rows.append([title, "measured", *shown, " / ".join(map(str, counts)), *["–" for _ in known]])
    for tool in repair30.study().tools:
        counts = [repair30.repaired_count(tool, b, same) for b in known]
        rows.append(
            [
                tool,
                "recomputed",
                *(number(repair30.published(tool, b, same)) if b in known else "–" for b in budgets),
                " / ".join(map(str, counts)),
                *(number(repair30.published(tool, b)) for b in known),
            ]
        )
    left_out = sorted({search.fault for search in searches} - set(same))
    proofs = [s.answer.proof_trainings for s in searches if s.answer.proof_trainings]
    return {
        "budgets": budgets,
        "known": known,
        "rows": rows,
        "count": len(same),
        "left_out": ", ".join(left_out),
        "searches": data["searches_per_fault"],
        "hold_out": "; ".join(sorted({search.answer.hold_out for search in searches})),
        "proof": statistics.median(proofs) if proofs else 0,
        "stand_ins": ", ".join(one["id"] for one in data["faults"] if one["stand_in"]),
        "source": repair30.study().source,
        "origin": results.origin(FILE),
    }
