"""The few numbers that stand at the top of the HTML page."""

from __future__ import annotations

from netmend.report.content import Figure
from netmend.report.numbers import count, duration, share
from netmend.report.overview import last_metrics, learning, overhead_words
from netmend.report.wording import metric_name
from netmend.vocabulary import Trace


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
    if run.every is not None and run.overhead is not None:
        figures.append(
            Figure("overhead", share(run.overhead), "--full" if run.every == 1 else f"--every {run.every}")
        )
    elif run.every is None:
        spent, _, judged = overhead_words(run).partition(" in the loop")
        figures.append(Figure("overhead", spent, f"in the loop{judged}"))
    return tuple(figures)
