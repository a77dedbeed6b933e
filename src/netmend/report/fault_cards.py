"""Each fault as a card of the page: the line, the words, and the figures that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from netmend.diagnose.measures.progress import main_progress
from netmend.localise.source import Sources
from netmend.report.code import CodeLine, excerpt
from netmend.report.content import Remark, clean, doubt, place
from netmend.report.curves import Curve, Line, curves
from netmend.report.depth import depth_curves
from netmend.report.fault_edit import ChangedLine, changed_lines
from netmend.report.heatmap import draw, heat_maps
from netmend.report.numbers import sure
from netmend.report.svg import line_chart, line_classes
from netmend.vocabulary import Diagnosis, Evidence, Fault, Trace

# Which figure shows a symptom: the beginning of its title, by the beginning of the symptom's code. The first match counts.
_PROOFS = (
    ("D101", "update ratio"),
    ("D102", "update ratio"),
    ("D114", "update ratio"),
    ("D211", "gradient norm"),
    ("D210", "learning rate"),
    ("D209", "learning rate"),
    ("D103", "gradient rms by depth"),
    ("D106", "gradient rms by depth"),
    ("D214", "gradient rms"),
    ("D215", "update ratio"),
    ("D213", "update ratio"),
    ("D218", "gradient rms"),
    ("D104", "silent share"),
    ("D5", "relative loss"),
    ("D1", "loss"),
    ("D4", "relative loss"),
    ("D3", "relative loss"),
    ("D2", "loss"),
    ("D6", "loss"),
)
_MOST_PROOFS = 2


@dataclass(frozen=True)
class Proof:
    """A figure with its caption."""

    title: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Card:
    rank: int
    title: str
    code: str
    aliases: str
    sure: str
    component: str
    place: str
    related: tuple[str, ...]
    lines: tuple[CodeLine, ...]
    words: tuple[Remark, ...]
    edit: tuple[ChangedLine, ...]
    reasons: tuple[Evidence, ...]  # for
    doubts: tuple[Evidence, ...]  # against
    proofs: tuple[Proof, ...]


def cards(trace: Trace, diagnosis: Diagnosis) -> tuple[Card, ...]:
    """The faults of a diagnosis, each with the figures that show its symptoms."""
    sources = Sources(trace.run.working_directory, trace.run.script)
    return tuple(_card(trace, sources, fault, rank) for rank, fault in enumerate(diagnosis.faults, start=1))


def _card(trace: Trace, sources: Sources, fault: Fault, rank: int) -> Card:
    ordered = sorted(fault.evidence, key=lambda item: -item.weight)
    return Card(
        rank,
        f"{fault.title[:1].upper()}{fault.title[1:]}",
        fault.cause,
        ", ".join(fault.aliases),
        sure(fault.confidence),
        clean(fault.component),
        place(fault.site, trace.run),
        tuple(place(site, trace.run) for site in fault.related),
        excerpt(sources, fault.site, around=2) if fault.site is not None else (),
        (
            Remark("seen", clean(fault.summary)),
            Remark("why", clean(fault.reason)),
            Remark("change", clean(fault.remedy)),
            *doubt(fault),
        ),
        () if fault.edit is None else changed_lines(fault.edit),
        tuple(replace(item, message=clean(item.message)) for item in ordered if item.weight > 0),
        tuple(replace(item, message=clean(item.message)) for item in ordered if item.weight <= 0),
        tuple(_proofs(trace, fault)),
    )


def _proofs(trace: Trace, fault: Fault) -> Iterator[Proof]:
    wanted: list[str] = []
    for code in fault.symptoms:
        title = next((title for start, title in _PROOFS if code.startswith(start)), None)
        if title is not None and title not in wanted:
            wanted.append(title)
    shown = 0
    for title in wanted:
        proof = _figure(trace, fault, title) or (
            _figure(trace, fault, "loss") if title == "relative loss" else None
        )
        if proof is not None and shown < _MOST_PROOFS:
            shown += 1
            yield proof


def _figure(trace: Trace, fault: Fault, title: str) -> Proof | None:
    relative = _relative(trace)
    for curve in (*((relative,) if relative is not None else ()), *curves(trace), *depth_curves(trace)):
        if curve.title.startswith(title):
            marks = (
                curve.marks if curve.names or fault.first_step is None else (*curve.marks, fault.first_step)
            )
            lines = [line for line in curve.lines if len(line.steps)]
            legend = tuple(
                (line.label, style) for line, style in zip(lines, line_classes(lines), strict=True)
            )
            chart = line_chart(replace(curve, marks=tuple(sorted(set(marks)))[:20]), log=curve.log)
            return Proof(curve.title, chart, legend if len(legend) > 1 else ()) if chart else None
    for heat in heat_maps(trace):
        if heat.title.startswith(title):
            return Proof(heat.title, draw(heat))
    return None


def _relative(trace: Trace) -> Curve | None:
    """Loss on the scale on which 1 is the best constant answer."""
    course = main_progress(trace)
    if course is None or course.relative is None or len(course.steps) < 2:
        return None
    ends = np.array([course.steps[0], course.steps[-1]])
    lines = (
        Line("training loss", course.steps, course.relative),
        Line("best constant answer", ends, np.ones(2), "reference"),
    )
    return Curve("relative loss (1: best constant answer)", lines, log=bool(course.relative.max() > 30))
