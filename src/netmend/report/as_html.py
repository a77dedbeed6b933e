"""A run as one self-contained HTML page: opens offline, asks nobody for anything, runs no script."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from netmend.report.content import clean
from netmend.report.curves import Curve, curves
from netmend.report.depth import depth_curves
from netmend.report.fault_cards import cards
from netmend.report.figures import key_figures
from netmend.report.heatmap import draw, heat_maps
from netmend.report.overview import advice_when_untrained, alarms, headline, remarks
from netmend.report.run_sections import LOOP_TITLE
from netmend.report.sections import origin_remarks, sections
from netmend.report.svg import line_chart, line_classes
from netmend.report.templates import templates
from netmend.report.timeline import timelines
from netmend.report.wording import verdict_words
from netmend.vocabulary import CRASHED, FAULTY, HEALTHY, UNDECIDED, Diagnosis, Trace


@dataclass(frozen=True)
class _Plot:
    """A figure of the page; both scales are drawn where both make sense, and a switch chooses."""

    title: str
    linear: Markup
    log: Markup
    prefers_log: bool
    legend: tuple[tuple[str, str], ...]


_CLASSES = {
    HEALTHY: "healthy",
    FAULTY: "faulty",
    UNDECIDED: "undecided",
    CRASHED: "faulty",
}  # of the style sheet
_MOST_SUSPECTS = 5  # causes that were weighed and not told


def html(trace: Trace, title: str | None = None, diagnosis: Diagnosis | None = None) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    plots = [_plot(curve) for curve in (*curves(trace), *depth_curves(trace))]
    return environment.get_template("page.html").render(
        title=clean(title or f"{trace.run.script or 'run'} – netmend"),
        style=Markup(environment.get_template("page.css").render()),
        headline=headline(trace),
        verdict=None if diagnosis is None else (_CLASSES[diagnosis.verdict], verdict_words(diagnosis)[1]),
        story=() if diagnosis is None else diagnosis.story,
        cards=() if diagnosis is None else cards(trace, diagnosis),
        suspects=() if diagnosis is None else diagnosis.suspects[:_MOST_SUSPECTS],
        diagnosis_advice=() if diagnosis is None else diagnosis.advice,
        status=trace.run.status,
        alarms=tuple(alarms(trace)),
        advice=() if trace.run.steps else advice_when_untrained(trace),
        figures=key_figures(trace),
        facts=(*origin_remarks(trace), *(remark for remark in remarks(trace) if remark.label != "overhead")),
        plots=[plot for plot in plots if plot.linear],
        heat_maps=[(heat, draw(heat)) for heat in heat_maps(trace)],
        loop_title=LOOP_TITLE,
        timelines=timelines(trace),
        sections=sections(trace),
    )


def _plot(curve: Curve) -> _Plot:
    lines = [line for line in curve.lines if len(line.steps)]
    legend = tuple((line.label, style) for line, style in zip(lines, line_classes(lines), strict=True))
    linear = line_chart(curve)
    positive = all((line.values > 0).any() for line in lines)
    log = (
        line_chart(curve, log=True)
        if positive and curve.unit != "share" and curve.title != "learning rate"
        else Markup("")
    )
    # A logarithmic axis that had to fall back (zeros, or a constant) is no second view.
    different = log if log != linear else Markup("")
    return _Plot(
        curve.title, linear, different, bool(curve.log and different), legend if len(legend) > 1 else ()
    )
