"""Sections about the program: optimisers, losses, data and its first batches, other operations, environment."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from netmend.report.content import Column, Grid, Number, Remark, Section, clean, place
from netmend.report.numbers import UNKNOWN, count, measure, plural, setting, shape, share
from netmend.report.run.wording import objective_words, settings_words
from netmend.vocabulary import (
    BatchPrint,
    FunctionFact,
    GroupFact,
    OperandFact,
    SchedulerFact,
    TargetFact,
    Trace,
)

_MOST_CLASSES = 12  # classes told one by one


def optimizer_section(trace: Trace) -> Section:
    """Every parameter group with its settings, and the schedules that change them."""
    groups = Grid.of(
        (
            (optimizer, index, group)
            for optimizer in trace.optimizers
            for index, group in enumerate(optimizer.groups)
        ),
        Column(
            "optimiser", lambda row: clean(row[0].name + (f"[{row[1]}]" if len(row[0].groups) > 1 else ""))
        ),
        Column("kind", lambda row: clean(row[0].kind)),
        Number("rate", lambda row: setting(row[2].settings.get("lr", UNKNOWN)), hint="when first seen"),
        Column("settings", lambda row: settings_words(_set(row[2].settings), skip=("lr",)), spare=2),
        Number("tensors", lambda row: _tensors(row[2]), spare=3, hint="parameter tensors in the group"),
        Column("made at", lambda row: place(row[0].created, trace.run), spare=1),
    )
    schedules = Grid.of(
        trace.all(SchedulerFact),
        Column("schedule", lambda schedule: clean(schedule.name)),
        Column("kind", lambda schedule: clean(schedule.kind)),
        Column("optimiser", lambda schedule: clean(schedule.optimizer), spare=1),
        Column("settings", lambda schedule: settings_words(schedule.settings), spare=2),
        Column("made at", lambda schedule: place(schedule.created, trace.run)),
    )
    return Section("Optimisers", (groups, schedules))


def _tensors(group: GroupFact) -> str:
    unknown = f" + {group.unknown_parameters} unknown" if group.unknown_parameters else ""
    return f"{count(len(group.parameters))}{unknown}"


def _set(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Without the switches that are off."""
    return {name: value for name, value in settings.items() if value is not False and value is not None}


def loss_section(trace: Trace) -> Section:
    """Every objective with what it was given on its first batch."""
    columns = (
        Column("operand", lambda operand: operand.role),
        Column("shape", lambda operand: shape(operand.shape)),
        Column("type", lambda operand: clean(operand.dtype.removeprefix("torch."))),
        Number("range", _range),
        Number("mean", lambda operand: measure(operand.mean), spare=1),
        Number("std", lambda operand: measure(operand.std), spare=2),
        Column("remark", _operand_remark, spare=3),
    )
    grids: list[Grid] = []
    remarks: list[Remark] = []
    for loss in trace.losses:
        own = loss.criterion == "expression"
        caption = objective_words(loss) if own else f"{loss.criterion} ({loss.form})"
        settings = settings_words(loss.settings, skip=("terms",))
        called = place(loss.called or loss.backward or loss.created, trace.run)
        caption = ", ".join(part for part in (caption, settings, called) if part)
        if not loss.operands:
            remarks.append(Remark("objective", clean(f"{caption}; what went into it was not recorded")))
            continue
        note = f"made of: {' ← '.join(loss.operations[:12])}" if loss.operations else ""
        grids.append(Grid.of(loss.operands, *columns, caption=clean(caption), note=clean(note)))
    return Section("Losses", tuple(grids), tuple(remarks))


def _range(operand: OperandFact) -> str:
    low, high = operand.minimum, operand.maximum
    written = setting if operand.integral else measure
    return UNKNOWN if low is None or high is None else f"{written(low)} … {written(high)}"


def _operand_remark(operand: OperandFact) -> str:
    remarks = []
    if operand.rows_sum_to_one:
        remarks.append("rows sum to 1")
    if operand.integral:
        remarks.append("integers")
    if operand.distinct is not None:
        remarks.append(plural(operand.distinct, "distinct value"))
    if operand.requires_grad and operand.role != "prediction":
        remarks.append("carries gradient")
    if operand.role == "prediction" and not operand.requires_grad:
        remarks.append("carries no gradient")
    return ", ".join(remarks)


def data_section(trace: Trace) -> Section:
    """Data loaders, what the first batches hold, and how the targets are distributed."""
    loaders = Grid.of(
        trace.loaders,
        Column("phase", lambda loader: loader.phase),
        Column("data set", lambda loader: clean(loader.dataset)),
        Number("samples", lambda loader: count(loader.samples)),
        Number("batch", lambda loader: count(loader.batch_size)),
        Column("shuffled", lambda loader: {True: "yes", False: "no", None: UNKNOWN}[loader.shuffle]),
        Column("sampler", lambda loader: clean(loader.sampler), spare=2),
        Number("workers", lambda loader: count(loader.workers), spare=3),
        Column("made at", lambda loader: place(loader.created, trace.run), spare=1),
    )
    alike = Counter(loaders.rows)
    times = Number("times", spare=3, hint="how many loaders like this were made")
    rows = tuple((*row, f"{count(times)}×" if times > 1 else "") for row, times in alike.items())
    remarks = (*batch_remarks(trace), *_target_remarks(trace))
    return Section("Data", (Grid((*loaders.columns, times), rows),), remarks)


def _target_remarks(trace: Trace) -> Iterator[Remark]:
    for target in trace.all(TargetFact):
        parts = [f"{plural(target.samples, 'sample')}"]
        total = sum(target.class_counts.values())
        if total:
            ordered = sorted(target.class_counts.items(), key=lambda entry: -entry[1])
            told = ", ".join(f"{label}: {share(number / total)}" for label, number in ordered[:_MOST_CLASSES])
            rest = f", and {len(ordered) - _MOST_CLASSES} more" if len(ordered) > _MOST_CLASSES else ""
            parts.append(f"class {told}{rest}")
        elif target.mean is not None:
            parts.append(f"mean {measure(target.mean)}, standard deviation {measure(target.std)}")
        if target.constant_loss is not None:
            parts.append(f"loss of the best constant prediction {measure(target.constant_loss)}")
        yield Remark("targets", clean("; ".join(parts)), clean(target.name))


def operation_section(trace: Trace) -> Section:
    """Functional calls other than activations, which stand among the layers."""
    operations = Grid.of(
        (fact for fact in trace.all(FunctionFact) if fact.kind != "activation"),
        Column("operation", lambda fact: clean(fact.function)),
        Column("kind", lambda fact: fact.kind),
        Column("after", lambda fact: clean(fact.after), spare=2),
        Column("settings", lambda fact: settings_words(fact.settings), spare=3),
        Column("at", lambda fact: place(fact.site, trace.run)),
    )
    return Section("Other operations", (operations,))


def environment_section(trace: Trace) -> Section:
    """Versions, device, precision: what someone needs to run it again."""
    facts = trace.environment
    ranks = f"{facts.rank} of {facts.world_size}" if facts.world_size > 1 else ""
    found = {
        "framework": facts.framework,
        "python": facts.python,
        "numpy": facts.numpy,
        "platform": facts.platform,
        "device": facts.device,
        "precision": ", ".join(
            part
            for part in (
                facts.default_dtype.removeprefix("torch."),
                f"autocast to {facts.autocast}" if facts.autocast else "",
                "gradients scaled" if facts.grad_scaler else "",
            )
            if part
        ),
        "threads": "" if facts.threads is None else count(facts.threads),
        "compiled": "yes" if facts.compiled else "",
        "deterministic": "yes" if facts.deterministic else "",
        "rank": ranks,
        "netmend": trace.run.netmend_version,
    }
    return Section(
        "Environment", remarks=tuple(Remark(label, clean(text)) for label, text in found.items() if text)
    )


_MOST_LABELS = 8  # told one by one
_UNLIKE = 100.0  # times: spreads of features that lie so far apart are told


def batch_remarks(trace: Trace) -> Iterator[Remark]:
    """Inputs and labels of the first batch of training and of evaluation."""
    for phase in ("training", "evaluation"):
        first = next((batch for batch in trace.batches if batch.phase == phase), None)
        if first is None:
            continue
        words = "; ".join(filter(None, (_inputs(first), _labels(first))))
        if words:
            yield Remark("first batch", clean(f"{phase}: {plural(first.size, 'sample')}, {words}"))


def _inputs(batch: BatchPrint) -> str:
    rows = [row for row in batch.features if all(map(math.isfinite, row))]
    if not rows:
        return ""
    if batch.feature_axis == "token":
        _, frequent, _, different = rows[0]
        return f"{plural(int(different), 'distinct token')}, the most frequent is {share(frequent)} of them"
    means, stds = [row[0] for row in rows], [row[1] for row in rows]
    low, high = min(row[2] for row in rows), max(row[3] for row in rows)
    told = f"{plural(len(batch.features), batch.feature_axis)} from {_end(low)} to {_end(high)}"
    if len(rows) == 1 or max(means) - min(means) <= max(stds):
        mean, std = sum(means) / len(rows), math.sqrt(sum(std**2 for std in stds) / len(rows))
        return f"{told} (mean {measure(mean)}, standard deviation {measure(std)})"
    spread = [std for std in stds if std > 0]
    if spread and max(spread) > _UNLIKE * min(spread):
        return f"{told} (standard deviations from {measure(min(spread))} to {measure(max(spread))})"
    return f"{told} (means from {measure(min(means))} to {measure(max(means))})"


def _end(value: float) -> str:
    """Of pixels and counts the plain number."""
    return count(int(value)) if value == round(value) and abs(value) < 1e6 else measure(value)


def _labels(batch: BatchPrint) -> str:
    if not batch.labels:
        if batch.target_mean is None:
            return ""
        return f"targets {measure(batch.target_mean)} ± {measure(batch.target_std)}"
    shown = sorted(batch.labels.items(), key=lambda label: -label[1])
    if len(shown) == 1:
        return f"all of class {shown[0][0]}"
    told = ", ".join(f"{label}: {count(number)}" for label, number in shown[:_MOST_LABELS])
    rest = f", and {len(shown) - _MOST_LABELS} more" if len(shown) > _MOST_LABELS else ""
    neighbours = batch.size - 1
    if batch.label_changes is None or neighbours < 1 or batch.label_changes > neighbours:
        return f"classes {told}{rest}"
    return f"classes {told}{rest}; {count(batch.label_changes)} of {count(neighbours)} neighbouring labels differ"
