"""Sections about the run: loop protocol, evaluation passes, events, the cost of watching, what was not seen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netmend.report.content import Column, Grid, Remark, Section, clean, place
from netmend.report.numbers import UNKNOWN, count, duration, measure, percent, plural, share
from netmend.report.orders import Order, orders, shown_orders
from netmend.report.overview import overhead_words
from netmend.report.wording import metric_name
from netmend.vocabulary import Pattern, Table, Trace

LOOP_TITLE = "Loop"
_MOST_EVALUATIONS = 20
_MOST_EVENTS = 30
_MOST_SPANS = 4


def protocol_section(trace: Trace) -> Section:
    """What the loop calls between two optimiser steps, the most frequent order first."""
    columns = (
        Column("line"),
        Column("call"),
        Column("of", spare=1),
        Column("detail", spare=2),
        Column("times", numeric=True, spare=3),
    )
    shown = shown_orders(trace)
    grids = [
        Grid(columns, tuple(_call_rows(order, trace)), _pattern_caption(order.pattern)) for order in shown
    ]
    rest = orders(trace)[len(shown) :]
    remarks: tuple[Remark, ...] = ()
    if rest:
        steps = plural(sum(order.pattern.steps for order in rest), "step")
        told = f"{steps} in {plural(len(rest), 'other order')} of calls"
        remarks = (Remark("rarer", told, tone="muted"),)
    return Section(LOOP_TITLE, tuple(grids), remarks)


def _pattern_caption(pattern: Pattern) -> str:
    spans = [
        count(first) if first == last else f"{count(first)}–{count(last)}" for first, last in pattern.spans
    ]
    told = ", ".join(spans[:_MOST_SPANS]) + (", …" if len(spans) > _MOST_SPANS or pattern.more_steps else "")
    return f"{plural(pattern.steps, 'step')} ({told})"


def _call_rows(order: Order, trace: Trace) -> Iterator[tuple[str, ...]]:
    for call, most in zip(order.pattern.calls, order.most, strict=True):
        where = place(call.site, trace.run) or UNKNOWN
        times = count(call.times) if call.times == most else f"{count(call.times)}–{count(most)}"
        yield (
            where,
            clean(call.what),
            clean(call.component).removesuffix(f"@{where}"),  # a loss is called after its place
            clean(call.detail),
            f"{times}×" if most > 1 else "",
        )


def evaluation_section(trace: Trace) -> Section:
    """One row per evaluation pass, with the mode it ran in."""
    columns = (
        Column("step", numeric=True),
        Column("loss", numeric=True),
        Column("metric", numeric=True),
        Column("samples", numeric=True, spare=1),
        Column("batches", numeric=True, spare=3),
        Column("mode", spare=2),
    )
    grids = []
    for table in trace.tables_of("evaluation"):
        rows = [_evaluation_row(trace, table, index) for index in range(len(table))]
        hidden = max(0, len(rows) - _MOST_EVALUATIONS)
        note = f"{plural(hidden, 'earlier pass', 'earlier passes')} not shown" if hidden else ""
        shown = tuple(rows[hidden:])
        named = (*columns[:2], Column(metric_name(trace, table.component), numeric=True), *columns[3:])
        grids.append(Grid(named, shown, clean(table.component), note).filled(besides=UNKNOWN))
    return Section("Evaluation", tuple(grids))


def _evaluation_row(trace: Trace, table: Table, index: int) -> tuple[str, ...]:
    def value(column: str) -> float | None:
        found = float(table.column(column)[index])
        return None if np.isnan(found) else found

    def whole(column: str) -> str:
        found = value(column)
        return UNKNOWN if found is None else count(int(found))

    metric = value("metric")
    accuracy = metric_name(trace, table.component) == "accuracy"
    training, grad = value("training_mode"), value("grad_enabled")
    modes = (
        "" if training is None else "train mode" if training else "eval mode",
        "" if grad is None else "grad on" if grad else "grad off",
    )
    return (
        count(int(table.steps[index])),
        measure(value("loss")),
        share(metric) if accuracy else measure(metric),
        whole("samples") if value("samples") else UNKNOWN,
        whole("batches"),
        ", ".join(mode for mode in modes if mode),
    )


def event_section(trace: Trace) -> Section:
    """What happened once and must not be forgotten."""
    columns = (Column("step", numeric=True), Column("kind"), Column("what happened"), Column("at", spare=1))
    events = sorted(trace.events, key=lambda event: event.step)
    rows = tuple(
        (
            count(event.step),
            clean(event.kind),
            clean(event.message),
            place(event.site, trace.run) or clean(event.component),
        )
        for event in events[:_MOST_EVENTS]
    )
    hidden = len(events) - len(rows)
    note = f"{plural(hidden, 'later event')} not shown" if hidden else ""
    return Section("Events", (Grid(columns, rows, note=note),))


def cost_section(trace: Trace) -> Section:
    """What watching cost, against what was allowed."""
    run = trace.run
    steady = run.steady_overhead
    whole = (
        ""
        if steady is None
        else f"; {share(steady)} after the first steps, budget {percent(run.overhead_budget)}"
    )
    remarks = [
        Remark("overhead", f"{overhead_words(run)}{whole}"),
        Remark("training", duration(run.seconds)),
        Remark(
            "steps",
            f"{count(run.steps)}: {count(run.full_steps)} with all statistics, {count(run.light_steps)} not looked at",
        ),
    ]
    return Section("Cost of watching", remarks=tuple(remarks) if run.steps else ())


def missing_section(trace: Trace) -> Section:
    """What could not be seen, and why."""
    return Section(
        "Not seen", remarks=tuple(Remark("missing", clean(text), tone="warn") for text in trace.run.missing)
    )
