"""The parts of a report below overview and curves, in reading order."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.report.content import Remark, Section, clean
from netmend.report.layers import layers_grid
from netmend.report.numbers import moment
from netmend.report.program_sections import (
    data_section,
    environment_section,
    loss_section,
    operation_section,
    optimizer_section,
)
from netmend.report.run_sections import (
    cost_section,
    evaluation_section,
    event_section,
    missing_section,
    protocol_section,
)
from netmend.vocabulary import Trace


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
        cost_section(trace),
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
