"""The parts of a report below overview and curves; those about the run itself: loop protocol, evaluation passes, events, the cost of watching, what was not seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from markupsafe import Markup

from netmend.report.content import Column, Grid, Number, Remark, Section, clean, place
from netmend.report.numbers import UNKNOWN, count, measure, moment, plural, share
from netmend.report.run.layers import layers_grid
from netmend.report.run.overhead import cost_section
from netmend.report.run.program_sections import (
    data_section,
    environment_section,
    loss_section,
    operation_section,
    optimizer_section,
)
from netmend.report.run.wording import metric_name
from netmend.vocabulary import Call, Pattern, Site, Table, Trace

_COPY = re.compile(r"#\d+$")  # `loader#2`: a loader made anew in each epoch
_MOST_ORDERS = 6  # a loop has two or three; more mean that something odd varies from step to step


def sections(trace: Trace) -> tuple[Section, ...]:
    """The parts of a page below overview and curves, in reading order; empty ones are left out."""
    found = (
        missing_section(trace),
        event_section(trace),
        Section("Layers", (layers_grid(trace),)),
        operation_section(trace),
        optimizer_section(trace),
        loss_section(trace),
        protocol_section(trace),
        evaluation_section(trace),
        data_section(trace),
        cost_section(trace.run),
        environment_section(trace),
    )
    return tuple(section for section in found if section)


def origin_remarks(trace: Trace) -> Iterator[Remark]:
    """Which run this is: name, command, start."""
    run = trace.run
    yield Remark("run", clean(run.name))
    yield Remark("command", clean(" ".join((run.script, *run.arguments))))
    yield Remark("started", moment(run.started))
    if run.exit_code is not None:
        yield Remark("exit code", str(run.exit_code))


@dataclass(frozen=True)
class Order:
    """Calls between two optimiser steps: each as often as `pattern` says, or up to `most` times."""

    pattern: Pattern
    most: tuple[int, ...]


def orders(trace: Trace) -> tuple[Order, ...]:
    """All orders, the most frequent first."""
    alike: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in trace.patterns:
        alike.setdefault(tuple(map(_essence, pattern.calls)), []).append(pattern)
    return tuple(sorted(map(_merged, alike.values()), key=lambda order: -order.pattern.steps))


def shown_orders(trace: Trace) -> tuple[Order, ...]:
    """The orders that most steps follow."""
    return orders(trace)[:_MOST_ORDERS]


def _essence(call: Call) -> tuple[str, str, str, Site | None]:
    return call.what, _COPY.sub("", call.component), call.detail, call.site


def _merged(patterns: list[Pattern]) -> Order:
    columns = list(zip(*(pattern.calls for pattern in patterns), strict=True))
    calls = tuple(replace(column[0], times=min(call.times for call in column)) for column in columns)
    spans = sorted(span for pattern in patterns for span in pattern.spans)
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    more = sum(pattern.more_steps for pattern in patterns)
    most = tuple(max(call.times for call in column) for column in columns)
    return Order(Pattern(calls, tuple(joined), more), most)


LOOP_TITLE = "Loop"
_MOST_EVALUATIONS = 20
_MOST_EVENTS = 30
_MOST_SPANS = 4


def protocol_section(trace: Trace) -> Section:
    """What the loop calls between two optimiser steps, the most frequent order first."""

    def where(call: Call) -> str:
        return place(call.site, trace.run) or UNKNOWN

    def times(call: Call, most: int) -> str:
        told = count(call.times) if call.times == most else f"{count(call.times)}–{count(most)}"
        return f"{told}×" if most > 1 else ""

    columns = (
        Column("line", lambda pair: where(pair[0])),
        Column("call", lambda pair: clean(pair[0].what)),
        # a loss is called after its place
        Column("of", lambda pair: clean(pair[0].component).removesuffix(f"@{where(pair[0])}"), spare=1),
        Column("detail", lambda pair: clean(pair[0].detail), spare=2),
        Number("times", lambda pair: times(*pair), spare=3),
    )
    shown = shown_orders(trace)
    grids = [
        Grid.of(
            zip(order.pattern.calls, order.most, strict=True),
            *columns,
            caption=_pattern_caption(order.pattern),
        )
        for order in shown
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


def evaluation_section(trace: Trace) -> Section:
    """One row per evaluation pass, with the mode it ran in."""
    tables = trace.tables_of("evaluation")
    return Section("Evaluation", tuple(_evaluation_grid(trace, table) for table in tables))


def _evaluation_grid(trace: Trace, table: Table) -> Grid:
    hidden = max(0, len(table) - _MOST_EVALUATIONS)
    metric = metric_name(trace, table.component)
    names = ("loss", "metric", "samples", "batches", "training_mode", "grad_enabled")
    values = {name: table.column(name) for name in names}

    def value(name: str, index: int) -> float | None:
        found = float(values[name][index])
        return None if np.isnan(found) else found

    def whole(found: float | None) -> str:
        return UNKNOWN if found is None else count(int(found))

    def mode(index: int) -> str:
        training, grad = value("training_mode", index), value("grad_enabled", index)
        told = (
            "" if training is None else "train mode" if training else "eval mode",
            "" if grad is None else "grad on" if grad else "grad off",
        )
        return ", ".join(filter(None, told))

    return Grid.of(
        range(hidden, len(table)),
        Number("step", lambda index: count(int(table.steps[index]))),
        Number("loss", lambda index: measure(value("loss", index))),
        Number(metric, lambda index: (share if metric == "accuracy" else measure)(value("metric", index))),
        Number("samples", lambda index: whole(value("samples", index) or None), spare=1),
        Number("batches", lambda index: whole(value("batches", index)), spare=3),
        Column("mode", mode, spare=2),
        caption=clean(table.component),
        note=f"{plural(hidden, 'earlier pass', 'earlier passes')} not shown" if hidden else "",
    ).filled(besides=UNKNOWN)


def event_section(trace: Trace) -> Section:
    """What happened once and must not be forgotten."""
    events = sorted(trace.events, key=lambda event: event.step)
    hidden = len(events[_MOST_EVENTS:])
    grid = Grid.of(
        events[:_MOST_EVENTS],
        Number("step", lambda event: count(event.step)),
        Column("kind", lambda event: clean(event.kind)),
        Column("what happened", lambda event: clean(event.message)),
        Column("at", lambda event: place(event.site, trace.run) or clean(event.component), spare=1),
        note=f"{plural(hidden, 'later event')} not shown" if hidden else "",
    )
    return Section("Events", (grid,))


def missing_section(trace: Trace) -> Section:
    """What could not be seen, and why."""
    return Section(
        "Not seen", remarks=tuple(Remark("missing", clean(text), tone="warn") for text in trace.run.missing)
    )


_WIDTH, _HEIGHT = 600, 10
_PIXELS = 300  # resolution of the strip: thousands of spans must not become thousands of shapes


@dataclass(frozen=True)
class Timeline:
    """One order of calls: its rows (line, call, component, detail, times) and its strip."""

    grid: Grid
    strip: Markup


def timelines(trace: Trace) -> tuple[Timeline, ...]:
    """The patterns in the order of the protocol section, each with its strip."""
    grids = protocol_section(trace).grids
    last = max((span[1] for pattern in trace.patterns for span in pattern.spans), default=1)
    return tuple(
        Timeline(grid, _strip(order.pattern, last))
        for grid, order in zip(grids, shown_orders(trace), strict=True)
    )


def _strip(pattern: Pattern, last: int) -> Markup:
    """Where between the first and the last step the pattern was followed."""
    covered = [False] * _PIXELS
    for start, stop in pattern.spans:
        low = int((start - 1) / max(1, last) * _PIXELS)
        high = int((stop - 0.5) / max(1, last) * _PIXELS)
        for index in range(max(0, low), min(_PIXELS, max(low, high) + 1)):
            covered[index] = True
    scale = _WIDTH / _PIXELS
    shapes, index = [], 0
    for is_covered, stretch in groupby(covered):
        length = len(list(stretch))
        if is_covered:
            left, width = f"{index * scale:.0f}", f"{length * scale:.0f}"
            shapes.append(f'<rect class="c0" x="{left}" y="0" width="{width}" height="{_HEIGHT}"/>')
        index += length
    return Markup(
        f'<svg class="span" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="steps that follow this order">{"".join(shapes)}</svg>'
    )
