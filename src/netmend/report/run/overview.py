"""The run in a few remarks: what was trained, on what, how it went, what `--probe` showed, what watching it cost, what was not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from netmend.diagnose.measures.acting import acts, returns, worlds
from netmend.report.content import Remark, clean, first_line, place
from netmend.report.numbers import count, duration, measure, plural, share
from netmend.report.run.curves import bucket_means, loss_lines
from netmend.report.run.overhead import overhead_remark
from netmend.report.run.wording import (
    data_words,
    has_metric,
    metric_name,
    model_words,
    objective_words,
    optimizer_words,
    task_words,
)
from netmend.vocabulary import Event, RunFact, Site, Table, Trace

_SMALL_PART = 0.1
_SPARK_LENGTH = 16  # characters of the small loss curve
_SAME = 0.05  # of a loss: as much as a small penalty adds
_EPISODES_TOLD = 10  # the first and the last tenth of the episodes are averaged
_MOST_OF_A_KIND = 3  # models, optimisers, … told one by one before "and 4 more"


def headline(trace: Trace) -> str:
    """One sentence: how the run ended, after how many steps."""
    run = trace.run
    ending = {
        "running": "is running or was killed",
        "finished": "finished",
        "failed": "crashed" if run.exception and not run.exception.startswith("SystemExit") else "failed",
        "interrupted": "was interrupted",
        "stopped": "was stopped by --stop-on fault",
        "killed": "was killed",
    }.get(run.status, run.status)
    script = clean(run.script) or "the program"
    if not run.steps:
        return f"{script} {ending}: no optimiser steps were seen"
    return f"{script} {ending}: {plural(run.steps, 'step')} in {duration(run.seconds)}"


def alarms(trace: Trace) -> Iterator[Remark]:
    """What must be read first: the exception that ended the run, the origin of non-finite values."""
    run = trace.run
    if run.exception:
        words = first_line(run.exception).removesuffix(":")  # KeyboardInterrupt has no message
        label = "stopped" if run.status in ("interrupted", "stopped") else "exception"
        yield Remark(label, words, place(run.exception_site, run), "warn" if label == "stopped" else "bad")
    origin = first_nonfinite(trace)
    if origin is not None:
        component = clean(origin.component)
        named = f" ({component})" if component and component not in origin.message else ""
        text = f"step {count(origin.step)}: {clean(origin.message)}{named}"
        yield Remark("non-finite", text, place(origin.site, run), "bad")


def first_nonfinite(trace: Trace) -> Event | None:
    """The earliest event that tells of a value becoming nan or infinite."""
    events = [event for event in trace.events if event.kind == "nonfinite"]
    return min(events, key=lambda event: event.step, default=None)


def advice_when_untrained(trace: Trace) -> tuple[str, ...]:
    """What to do when nothing trained, from what was seen instead."""
    if trace.run.status in ("interrupted", "stopped", "killed"):
        return ("Interrupted before the first optimiser step: let it run a little longer.",)
    if trace.run.exception:
        return ("The script crashed before its first step; netmend can tell more once it runs.",)
    seen = "A model was called, but no optimiser stepped." if trace.models else "No model was called either."
    return (
        seen,
        "Does training only start with an argument? Pass it to the script: netmend run train.py --epochs 3",
        'Is it in another file, or behind `if __name__ == "__main__"` of one that is only imported? Run that file.',
        "Is the update hidden from netmend? Pass the parts: with netmend.watch(model, optimizer=optimizer): …",
    )


def _made_or(made: Site | None, used: str, where: Site | None, run: RunFact) -> str:
    """Where something is made; of what was made before watching began, where it is used."""
    return place(made, run) or (f"{used} at {place(where, run)}" if where is not None else "")


def remarks(trace: Trace) -> Iterator[Remark]:
    """The facts and figures of the run, one remark each, most telling first."""
    run = trace.run
    yield from _few(
        [
            Remark("model", model_words(trace, model), _made_or(model.created, "called", model.called, run))
            for model in trace.models
        ]
    )
    yield from _few(
        [
            Remark(
                "optimiser",
                optimizer_words(trace, optimizer),
                _made_or(optimizer.created, "steps", optimizer.stepped, run),
            )
            for optimizer in trace.optimizers
        ]
    )
    objectives = [
        Remark("objective", objective_words(loss), place(loss.called or loss.backward or loss.created, run))
        for loss in trace.losses
        if loss.backward is not None or not any(other.backward for other in trace.losses)
    ]
    yield from _few(objectives)
    if task := task_words(trace):
        yield Remark("task", task)
    yield from _few([Remark("data", text) for text in data_words(trace)])
    losses = learning(trace)
    yield from _few([replace(told, text=f"{name} {told.text}".lstrip()) for name, told in losses])
    yield from _few(list(_returns(trace)))
    if not acts(trace) and (metric := _metric(trace)):
        yield metric
    yield from probe_remarks(trace)
    if run.steps:
        yield overhead_remark(run)


def _few(found: Sequence[Remark]) -> Iterator[Remark]:
    yield from found[:_MOST_OF_A_KIND]
    if len(found) > _MOST_OF_A_KIND:
        yield Remark(found[0].label, f"and {len(found) - _MOST_OF_A_KIND} more", tone="muted")


def learning(trace: Trace) -> Iterator[tuple[str, Remark]]:
    """First and last loss of every objective with a small curve, and the objective's name where there are several."""
    lines = loss_lines(trace)
    for line in lines:
        name = line.label if len(lines) > 1 else ""
        last = _last_loss(trace, line.values)
        relative = _relative_loss(trace) if len(lines) == 1 and last != "nan" else ""
        text = f"{measure(float(line.values[0]))} → {last}"
        yield name, Remark("loss", text, spark=bucket_means(line.values, _SPARK_LENGTH), tail=relative)


def _last_loss(trace: Trace, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """The last loss; `nan` where a missing last value can only mean that it was not a number."""
    _, everything = trace.loss
    if first_nonfinite(trace) is not None and len(everything) and np.isnan(everything[-1]):
        return "nan"
    return measure(float(values[-1]))


def _relative_loss(trace: Trace) -> str:
    """The last loss as a share of what the best constant prediction would get; that of a term says nothing of the whole."""
    tables = [table for table in trace.tables_of("progress") if len(table)]
    if len(tables) != 1:
        return ""
    losses, constants = tables[0].column("loss"), tables[0].column("constant_loss")
    known = np.flatnonzero(np.isfinite(losses) & np.isfinite(constants) & (constants > 0))
    if not len(known):
        return ""
    last = known[-1]
    steps, values = trace.loss
    whole = values[steps == tables[0].steps[last]]
    if not len(whole) or not np.isclose(whole[-1], losses[last], rtol=_SAME):
        return ""
    ratio = float(losses[last] / constants[last])
    # As the faults say it: 1.48 times, not 148 %; a small part reads better as a percentage.
    said = f"{share(ratio)} of" if ratio < _SMALL_PART else f"{measure(ratio)} times"
    return f"{said} the best constant prediction's {measure(float(constants[last]))}"


def outcome(trace: Trace) -> tuple[float | None, float | None, str]:
    """The last training loss, and the metric of the last evaluation, or else of training, with its name."""
    lines = loss_lines(trace)
    loss = float(lines[0].values[-1]) if lines else None
    table = _latest(trace, "evaluation") or _latest(trace, "progress")
    if table is None:
        return loss, None, ""
    return loss, float(table.known("metric")[1][-1]), metric_name(trace, table.component)


def last_metrics(trace: Trace) -> Iterator[tuple[str, str, str]]:
    """The latest metric of training and of evaluation: phase, value, and on how many samples it was taken."""
    training = _latest(trace, "progress")
    if training is not None:
        yield "training", _metric_value(trace, training), "last batch"
    evaluation = _latest(trace, "evaluation")
    if evaluation is not None:
        samples = evaluation.column("samples")[-1]
        on = "" if np.isnan(samples) else plural(int(samples), "sample")
        yield "evaluation", _metric_value(trace, evaluation), on


def _metric(trace: Trace) -> Remark | None:
    parts = [f"{phase} {value}{f' ({on})' if on else ''}" for phase, value, on in last_metrics(trace)]
    return Remark(metric_name(trace), ", ".join(parts)) if parts else None


def _returns(trace: Trace) -> Iterator[Remark]:
    """What the episodes of each environment brought, first to last: in learning by acting, this is the score."""
    for world in worlds(trace):
        values = returns(trace, world)
        if len(values):
            few = max(1, len(values) // _EPISODES_TOLD)
            text = f"{measure(float(values[:few].mean()))} → {measure(float(values[-few:].mean()))}"
            tail = f"per episode, {plural(world.episodes, 'episode')} of {clean(world.kind)}"
            yield Remark("return", text, spark=bucket_means(values, _SPARK_LENGTH), tail=tail)


def _latest(trace: Trace, kind: str) -> Table | None:
    """The table of the kind whose metric was measured last."""
    tables = [
        table
        for table in trace.tables_of(kind)
        if len(table.known("metric")[0]) and has_metric(trace, table.component)
    ]
    return max(tables, key=lambda table: int(table.known("metric")[0][-1]), default=None)


def _metric_value(trace: Trace, table: Table) -> str:
    value = float(table.known("metric")[1][-1])
    return share(value) if metric_name(trace, table.component) == "accuracy" else measure(value)


_BY_HEART = 0.1  # convention: of the first loss; less no longer says that the batch could not be learned


def probe_remarks(trace: Trace) -> Iterator[Remark]:
    """Only the experiments that were asked for; what the first batch shows anyway is part of the diagnosis."""
    for what, words in _WORDS.items():
        for probe in trace.probes(what):
            text = words(probe.values)
            if text:
                of = f"{clean(probe.component)}: " if len(trace.models) > 1 else ""
                yield Remark("probe", f"{of}{text}", place(probe.site, trace.run))
    for missing in trace.run.missing:
        if missing.startswith("--probe "):
            yield Remark("probe", clean(missing.removeprefix("--probe ")), tone="warn")


def _overfit(values: Mapping[str, Any]) -> str:
    first, best, steps = float(values["first"]), float(values["best"]), int(values["steps"])
    learned = "memorised" if best <= _BY_HEART * first else "not memorised"
    outcome = "nothing left to learn" if first == 0 else learned if first > 0 else "not memorised"
    return f"one batch, {plural(steps, 'step')}: {outcome}, loss {measure(first)} → {measure(best)}"


def _rates(values: Mapping[str, Any]) -> str:
    tried = [(name, value) for name, value in values.items() if name.startswith("x") and value is not None]
    shares = ", ".join(f"{measure(float(value))} at ×{name[1:]}" for name, value in tried)
    left = f"share of the loss left after {values['steps']} steps with the rate scaled: {shares}"
    return left if shares else ""


def _ignored(values: Mapping[str, Any]) -> str:
    real, shuffled = measure(float(values["real"])), measure(float(values["shuffled"]))
    return f"one batch, {plural(int(values['steps']), 'step')}: loss {real} as it is, {shuffled} with its inputs shuffled"


_WORDS = {"batch overfit": _overfit, "rate probe": _rates, "input ignored": _ignored}
