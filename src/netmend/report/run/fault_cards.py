"""Each fault as a card of the page: the line, the words, and the figures that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netmend.diagnose.detector import DETECTORS
from netmend.diagnose.measures.progress import main_progress
from netmend.program.text.sources import Sources
from netmend.report.code import CodeLine, changed_lines, excerpt, told_once
from netmend.report.content import DiffLine, Remark, clean, doubt, place
from netmend.report.numbers import alike, sure
from netmend.report.plots import Plot, heat_plot, plot
from netmend.report.run.curves import Curve, Line, curves, depth_curves, has_spike
from netmend.report.run.layers import HeatMap, heat_maps
from netmend.vocabulary import Diagnosis, Evidence, Fault, Trace

_MOST_PROOFS = 2
_MOST_MARKS = 20


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
    edit: tuple[DiffLine, ...]
    reasons: tuple[Evidence, ...]  # for
    doubts: tuple[Evidence, ...]  # against
    figures: tuple[Plot, ...]  # that prove it
    shown: tuple[tuple[Plot, int], ...]  # those that stand with an earlier fault, and its rank


def cards(trace: Trace, diagnosis: Diagnosis) -> tuple[Card, ...]:
    """The faults of a diagnosis, each with the figures that show its symptoms; no figure stands twice."""
    sources = Sources.of(trace)
    diagnosis = replace(diagnosis, faults=told_once(diagnosis.faults))
    at_hand = _figures(trace)
    titles = [_titles(fault, list(at_hand)) for fault in diagnosis.faults]
    shown: dict[str, tuple[Plot, int]] = {}
    made = []
    for rank, (fault, wanted) in enumerate(zip(diagnosis.faults, titles, strict=True), start=1):
        earlier = tuple(shown[title] for title in wanted if title in shown)
        own = []
        for title in wanted:
            if title not in shown:
                marks = [
                    each.first_step
                    for each, others in zip(diagnosis.faults, titles, strict=True)
                    if title in others and each.first_step is not None
                ]
                if (figure := _drawn(at_hand[title], marks)) is not None:
                    shown[title] = figure, rank
                    own.append(figure)
        made.append(_card(trace, sources, fault, rank, tuple(own), earlier))
    return tuple(made)


def _card(
    trace: Trace,
    sources: Sources,
    fault: Fault,
    rank: int,
    figures: tuple[Plot, ...],
    shown: tuple[tuple[Plot, int], ...],
) -> Card:
    ordered = sorted(fault.evidence, key=lambda item: -item.weight)
    return Card(
        rank,
        f"{fault.title[:1].upper()}{fault.title[1:]}",
        fault.cause,
        ", ".join(fault.aliases),
        sure(fault.confidence),
        clean(fault.component).removesuffix(f"@{place(fault.site, trace.run)}"),
        place(fault.site, trace.run),
        tuple(place(site, trace.run) for site in fault.related),
        excerpt(sources, fault.site, around=2) if fault.site is not None else (),
        (
            Remark("seen", alike(clean(fault.summary))),
            Remark("why", alike(clean(fault.reason))),
            Remark("change", alike(clean(fault.remedy))),
            *doubt(fault),
        ),
        () if fault.edit is None else changed_lines(fault.edit),
        tuple(replace(item, message=alike(clean(item.message))) for item in ordered if item.weight > 0),
        tuple(replace(item, message=alike(clean(item.message))) for item in ordered if item.weight <= 0),
        figures,
        shown,
    )


def _figures(trace: Trace) -> dict[str, Curve | HeatMap]:
    """What the page can show of the run, by title."""
    found: dict[str, Curve | HeatMap] = {
        curve.title: curve for curve in (*curves(trace), *depth_curves(trace))
    }
    relative = _relative(trace)
    loss = found.get("loss")
    against_constant = isinstance(loss, Curve) and any(line.role == "reference" for line in loss.lines)
    if relative is not None and not against_constant:
        found[relative.title] = relative
    return found | {heat.title: heat for heat in heat_maps(trace)}


def _titles(fault: Fault, titles: Sequence[str]) -> tuple[str, ...]:
    """The figures that show the symptoms of a fault; the loss itself where it has no relative one."""
    wanted: dict[str, None] = {}
    for code in fault.symptoms:
        detector = DETECTORS.classes().get(code)
        name = detector.figure if detector is not None else ""
        if not name:
            continue
        fitting = [title for title in titles if title.startswith(name)]
        if not fitting and name == "relative loss":
            fitting = [title for title in titles if title == "loss"]
        wanted.update(dict.fromkeys(fitting[:1]))
    return tuple(wanted)[:_MOST_PROOFS]


def _drawn(found: Curve | HeatMap, marks: Sequence[int]) -> Plot | None:
    if isinstance(found, HeatMap):
        return heat_plot(found)
    every = found.marks if found.names else (*found.marks, *marks)
    return plot(replace(found, marks=tuple(sorted(set(every)))[:_MOST_MARKS]))


def _relative(trace: Trace) -> Curve | None:
    """Loss on the scale on which 1 is the best constant prediction."""
    course = main_progress(trace)
    if course is None or course.relative is None or len(course.steps) < 2:
        return None
    ends = np.array([course.steps[0], course.steps[-1]])
    lines = (
        Line("training loss", course.steps, course.relative),
        Line("best constant prediction", ends, np.ones(2), "reference"),
    )
    return Curve("relative loss (1: best constant prediction)", lines, log=has_spike(lines))
