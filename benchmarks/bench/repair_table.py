"""The tables of `netmend bench repair`: rates per fault, and averages beside the published tools on the same faults."""

from __future__ import annotations

from collections.abc import Sequence

from bench import repair30
from bench.faults22.facts import BenchFault
from bench.repair_study import Search, comparable, mean_rate, rate_of
from netmend.report.content import Column, Grid, Number
from netmend.vocabulary.verification import PROVEN

NONE = "–"


def per_fault(searches: Sequence[Search], faults: Sequence[BenchFault]) -> Grid:
    """One row per fault: what it scores as it is, with the known fix, and the share of that gain at each budget."""
    budgets = sorted({search.budget for search in searches})
    rows = []
    for fault in faults:
        own = [search for search in searches if search.fault == fault.id]
        if not own:
            continue
        last = own[-1].answer
        proven = sum(s.answer.verdict == PROVEN for s in own if s.budget == budgets[-1])
        count = sum(s.budget == budgets[-1] for s in own)
        rows.append(
            (
                f"{fault.id}{'*' if fault.stand_in else ''}",
                number(last.value_buggy),
                number(last.value_fixed),
                *(number(rate_of(own, fault.id, budget), 2) for budget in budgets),
                f"{proven}/{count}",
                "; ".join(last.titles) or "no patch",
            )
        )
    return Grid(
        (
            Column("fault"),
            Number("buggy"),
            Number("fix"),
            *(Number(f"{budget}×") for budget in budgets),
            Number("proven", spare=1),
            Column("last patch", spare=2),
        ),
        tuple(rows),
        "Improvement rate of each fault, measured",
        "* on stand-in data. – where the known fix brings nothing: no rate. 0 as it is, 1 as good as the known fix; means over searches.",
    )


def averages(searches: Sequence[Search]) -> Grid:
    """netmend and the four tools: the same faults, and for the tools all 30 of the study."""
    budgets = sorted({search.budget for search in searches})
    shown = [budget for budget in budgets if budget in repair30.budgets()]
    same = comparable(searches)
    rows = [
        (
            "netmend",
            "measured",
            *(number(mean_rate(searches, b, same), 2) for b in budgets),
            *[""] * len(shown),
        ),
        (
            "netmend, if proven",
            "measured",
            *(number(mean_rate(searches, b, same, proven_only=True), 2) for b in budgets),
            *[""] * len(shown),
        ),
    ]
    for tool in repair30.study().tools:
        rows.append(
            (
                tool,
                "recomputed",
                *(number(repair30.published(tool, b, same), 2) if b in shown else NONE for b in budgets),
                *(number(repair30.published(tool, b), 2) for b in shown),
            )
        )
    return Grid(
        (
            Column("search"),
            Column("origin", spare=2),
            *(Number(f"{budget}×") for budget in budgets),
            *(Number(f"30: {budget}×", spare=1) for budget in shown),
        ),
        tuple(rows),
        f"Mean improvement rate over {len(same)} fault{'' if len(same) == 1 else 's'}",
        "30: over all faults of the study. if proven: only patches that the proof holds. No result counts 0, nothing counts more than 1. recomputed: from the tables of the repair study (Keras, true data, hold-out part of "
        "the test set); measured: here, on PyTorch programs of the same faults.",
    )


def number(value: float | None, digits: int | None = None) -> str:
    if value is None:
        return NONE
    return f"{value:.3g}" if digits is None else f"{value:.{digits}f}"
