"""A run as one self-contained HTML page: opens offline, asks nobody for anything, runs no script."""

from __future__ import annotations

from markupsafe import Markup

from netmend.report.content import Figure, clean
from netmend.report.numbers import alike, count, duration
from netmend.report.plots import heat_plot, plot
from netmend.report.run import lineage
from netmend.report.run.curves import depth_curves, telling_curves
from netmend.report.run.fault_cards import cards
from netmend.report.run.layers import heat_maps
from netmend.report.run.overhead import overhead_figure
from netmend.report.run.overview import (
    advice_when_untrained,
    alarms,
    headline,
    last_metrics,
    learning,
    remarks,
)
from netmend.report.run.sections import LOOP_TITLE, origin_remarks, sections, timelines
from netmend.report.run.wording import metric_name, verdict_words
from netmend.report.templates import templates
from netmend.vocabulary import CRASHED, FAULTY, HEALTHY, UNDECIDED, Diagnosis, Site, Trace

# of the style sheet
_CLASSES = {HEALTHY: "healthy", FAULTY: "faulty", UNDECIDED: "undecided", CRASHED: "faulty"}
_MOST_SUSPECTS = 5  # causes that were weighed and not told


def run_page(trace: Trace, title: str | None = None, diagnosis: Diagnosis | None = None) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    told = () if diagnosis is None else cards(trace, diagnosis)
    above = {figure.title: figure for card in told for figure in card.figures}
    drawn = [
        plot(curve) for curve in (*telling_curves(trace), *depth_curves(trace)) if curve.title not in above
    ]
    data = lineage.drawn(lineage.rows(trace, accused(diagnosis)))
    return environment.get_template("run/page.html").render(
        title=clean(title or f"{trace.run.script or 'run'} – netmend"),
        style=Markup(environment.get_template("page.css").render()),
        headline=headline(trace),
        verdict=None if diagnosis is None else (_CLASSES[diagnosis.verdict], verdict_words(diagnosis)[1]),
        story=() if diagnosis is None else tuple(alike(clean(sentence)) for sentence in diagnosis.story),
        cards=told,
        suspects=() if diagnosis is None else diagnosis.suspects[:_MOST_SUSPECTS],
        diagnosis_advice=() if diagnosis is None else diagnosis.advice,
        status=trace.run.status,
        alarms=tuple(alarms(trace)),
        advice=() if trace.run.steps else advice_when_untrained(trace),
        figures=key_figures(trace),
        facts=(*origin_remarks(trace), *(remark for remark in remarks(trace) if remark.label != "overhead")),
        plots=[figure for figure in drawn if figure is not None],
        heat_maps=[heat_plot(heat) for heat in heat_maps(trace) if heat.title not in above],
        plots_above=[figure for figure in above.values() if not figure.wide],
        maps_above=[figure for figure in above.values() if figure.wide],
        loop_title=LOOP_TITLE,
        timelines=timelines(trace),
        lineage_title=lineage.TITLE,
        lineage=data,
        accused_data=any(drawn.row.bad for drawn in data),
        inputs=lineage.inputs_grid(trace),
        sections=sections(trace),
    )


def accused(diagnosis: Diagnosis | None) -> list[Site]:
    """The lines of the faults."""
    return [fault.site for fault in diagnosis.faults if fault.site is not None] if diagnosis else []


def key_figures(trace: Trace) -> tuple[Figure, ...]:
    """Steps, loss, metric and overhead, as far as they are known."""
    run = trace.run
    if not run.steps:
        return ()
    figures = [Figure("steps", count(run.steps), f"in {duration(run.seconds)}")]
    for name, told in learning(trace):
        figures.append(Figure(f"loss, {name}" if name else "loss", told.text, told.tail))
    for phase, value, on in last_metrics(trace):
        figures.append(Figure(f"{phase} {metric_name(trace)}", value, on))
    if overhead := overhead_figure(run):
        figures.append(overhead)
    return tuple(figures)
