"""What watching cost, in words: a line of the summary, a figure of the page, a section of its own."""

from __future__ import annotations

from netmend.report.content import Figure, Remark, Section
from netmend.report.numbers import count, duration, percent, plural, share
from netmend.vocabulary import RunFact

_LONG = 30.0  # seconds of training from which on the first looks are a small part of it


def overhead_figure(run: RunFact) -> Figure | None:
    """What was spent where; None where it was not measured. A share only where it says something: the first looks are a large part of a short run."""
    if run.every is not None:
        asked = "--full" if run.every == 1 else f"--every {run.every}"
        return None if run.overhead is None else Figure("overhead", share(run.overhead), asked)
    slower = run.overhead or 0.0
    beside = "in the loop"
    if run.overhead is not None and (run.seconds >= _LONG or run.overhead <= run.overhead_budget):
        beside += f" ({share(run.overhead)})"
    if run.judge_seconds is not None:
        beside += f", {_seconds(run.judge_seconds)} to judge"
    return Figure("overhead", _seconds(max(run.own_seconds, run.seconds * slower / (1 + slower))), beside)


def overhead_words(run: RunFact) -> str:
    figure = overhead_figure(run)
    if figure is None:
        return "not measured"
    return (
        f"{figure.value} {figure.beside}" if run.every is None else f"{figure.value} slower ({figure.beside})"
    )


def overhead_remark(run: RunFact) -> Remark:
    text = f"{overhead_words(run)}; all statistics on {count(run.full_steps)} of {plural(run.steps, 'step')}"
    beyond = run.steady_overhead is not None and run.steady_overhead > 2 * run.overhead_budget
    return Remark("overhead", text, tone="warn" if beyond and run.every is None else "plain")


def cost_section(run: RunFact) -> Section:
    """Against what was allowed."""
    steady, words = run.steady_overhead, overhead_words(run)
    if steady is not None:
        words += f"; {share(steady)} after the first steps, budget {percent(run.overhead_budget)}"
    looked = f"{count(run.full_steps)} with all statistics, {count(run.light_steps)} not looked at"
    remarks = (
        Remark("overhead", words),
        Remark("training", duration(run.seconds)),
        Remark("steps", f"{count(run.steps)}: {looked}"),
    )
    return Section("Cost of watching", remarks=remarks if run.steps else ())


def _seconds(value: float) -> str:
    return duration(value) if value >= 10 else f"{value:.2f} s" if value < 0.095 else f"{value:.1f} s"
