"""A repair as one self-contained HTML page: verdict, patch, proof over seeds, what was tried, what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from netmend.program.text.sources import Sources
from netmend.repair.result import Result
from netmend.report.code import CodeLine, excerpt
from netmend.report.content import Remark, clean
from netmend.report.figures import Figure
from netmend.report.numbers import duration, plural, sure
from netmend.report.repair.figures import course_chart, ends_chart
from netmend.report.repair.patch import DiffLine, diff_lines, start_words
from netmend.report.repair.proof import (
    chance_words,
    cost_remarks,
    effect_words,
    failed_words,
    mean_words,
    metric_words,
    proof_objective,
    proof_remarks,
)
from netmend.report.repair.tried import tried_grid
from netmend.report.repair.words import change_remarks, failure_remarks, place_words, verdict_words
from netmend.report.signs import harmless
from netmend.report.templates import templates
from netmend.vocabulary import Fault
from netmend.vocabulary.verification import PROVEN

_CLASSES = {"good": "healthy", "warn": "undecided", "bad": "faulty"}  # of the style sheet


@dataclass(frozen=True)
class _Wrong:
    """A fault of the program as it is."""

    title: str
    code: str
    sure: str
    place: str
    lines: tuple[CodeLine, ...]
    words: tuple[Remark, ...]
    mended: bool  # by a proven change


def repair_html(result: Result) -> str:
    """The page as a string. Everything that comes from the user's program is escaped."""
    environment = templates()
    objective = proof_objective(result)
    style = "\n".join(environment.get_template(name).render() for name in ("page.css", "repair.css"))
    tone, words = verdict_words(result)
    made = result.verification
    return environment.get_template("repair.html").render(
        title=f"{clean(result.script)}: {words} – netmend",
        style=Markup(style),
        verdict=(_CLASSES[tone], f"{words[:1].upper()}{words[1:]}"),
        headline=clean(_headline(result)),
        alarms=tuple(failure_remarks(result)),
        missing=() if made is None else tuple(clean(text) for text in made.missing),
        figures=tuple(_figures(result)),
        changes=tuple(change_remarks(result)),
        lines=tuple(DiffLine(line.kind, harmless(line.text)) for line in diff_lines(result)),
        faults=tuple(_faults(result)),
        proof=tuple(remark for remark in proof_remarks(result) if remark.label != "missing"),
        metric="" if objective is None else metric_words(objective),
        course=course_chart(result),
        ends=ends_chart(result),
        failed=made is not None and bool(failed_words((*made.before, *made.after))),
        tried=tried_grid(result, causes=True) if result.attempts else None,
        cost=tuple(_costs(result)),
    )


def _headline(result: Result) -> str:
    started = start_words(result, result.arguments)
    if result.titles:
        return f"{started}: {'; '.join(result.titles)}"
    return f"{started}: {plural(len(result.attempts), 'change')} tried"


def _figures(result: Result) -> Iterator[Figure]:
    made, objective = result.verification, proof_objective(result)
    if made is None or objective is None or not made.before:
        return
    for side, values in (("before", made.before), ("after", made.after)):
        beside = ", ".join(filter(None, (f"over {plural(len(values), 'seed')}", failed_words(values))))
        yield Figure(f"{metric_words(objective)} {side}", mean_words(values), beside)
    if chance := chance_words(made.p_value):
        yield Figure("chance (p)", chance, f"effect {effect_words(made.effect_size)}")
    steps = plural(round(made.steps_after), "step")
    yield Figure(
        "a training", duration(made.seconds_after), f"{steps}; before: {duration(made.seconds_before)}"
    )


def _faults(result: Result) -> Iterator[_Wrong]:
    sources = Sources(result.baseline.root or result.directory, result.script)
    for fault in () if result.diagnosis is None else result.diagnosis.faults:
        yield _Wrong(
            clean(f"{fault.title[:1].upper()}{fault.title[1:]}"),
            fault.cause,
            sure(fault.confidence),
            place_words(result, fault.site),
            _lines(sources, fault),
            (Remark("seen", clean(fault.summary)), Remark("why", clean(fault.reason))),
            result.verdict == PROVEN and fault.cause in result.causes,
        )


def _lines(sources: Sources, fault: Fault) -> tuple[CodeLine, ...]:
    if fault.site is None:
        return ()
    return tuple(
        CodeLine(line.number, harmless(line.text), line.marked, line.start, line.end)
        for line in excerpt(sources, fault.site, around=2)
    )


def _costs(result: Result) -> Iterator[Remark]:
    yield from cost_remarks(result)
    if result.stopped:
        yield Remark("ended", clean(result.stopped))
    if result.problems:
        yield Remark("failures", f"parts of netmend failed: {clean('; '.join(result.problems))}", tone="warn")
