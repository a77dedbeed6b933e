"""Sections about the program: optimisers, losses, data, other operations, environment."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.report.content import Column, Grid, Remark, Section, clean, place
from netmend.report.numbers import UNKNOWN, count, measure, setting, shape, share
from netmend.report.wording import settings_words
from netmend.vocabulary import FunctionFact, OperandFact, SchedulerFact, TargetFact, Trace

_MOST_CLASSES = 12  # classes told one by one


def optimizer_section(trace: Trace) -> Section:
    """Every parameter group with its settings, and the schedules that change them."""
    groups = []
    for optimizer in trace.optimizers:
        for index, group in enumerate(optimizer.groups):
            name = optimizer.name if len(optimizer.groups) == 1 else f"{optimizer.name}[{index}]"
            unknown = f" + {group.unknown_parameters} unknown" if group.unknown_parameters else ""
            groups.append(
                (
                    clean(name),
                    clean(optimizer.kind),
                    setting(group.settings.get("lr", UNKNOWN)),
                    settings_words(group.settings, skip=("lr",)),
                    f"{count(len(group.parameters))}{unknown}",
                    place(optimizer.created, trace.run),
                )
            )
    columns = (
        Column("optimiser"),
        Column("kind"),
        Column("rate", numeric=True, hint="when first seen"),
        Column("settings", spare=2),
        Column("tensors", numeric=True, spare=3, hint="parameter tensors in the group"),
        Column("made at", spare=1),
    )
    schedules = tuple(
        (
            clean(schedule.name),
            clean(schedule.kind),
            clean(schedule.optimizer),
            settings_words(schedule.settings),
            place(schedule.created, trace.run),
        )
        for schedule in trace.all(SchedulerFact)
    )
    schedule_columns = (
        Column("schedule"),
        Column("kind"),
        Column("optimiser", spare=1),
        Column("settings", spare=2),
        Column("made at"),
    )
    return Section("Optimisers", (Grid(columns, tuple(groups)), Grid(schedule_columns, schedules)))


def loss_section(trace: Trace) -> Section:
    """Every objective with what it was given on its first batch."""
    columns = (
        Column("operand"),
        Column("shape"),
        Column("type"),
        Column("range", numeric=True),
        Column("mean", numeric=True, spare=1),
        Column("std", numeric=True, spare=2),
        Column("remark", spare=3),
    )
    grids: list[Grid] = []
    remarks: list[Remark] = []
    for loss in trace.losses:
        caption = f"{loss.criterion} ({loss.form})"
        settings = settings_words(loss.settings)
        called = place(loss.called or loss.backward or loss.created, trace.run)
        caption = ", ".join(part for part in (caption, settings, called) if part)
        rows = tuple(_operand_row(operand) for operand in loss.operands)
        if not rows:
            remarks.append(Remark("objective", clean(f"{caption}; its operands were not seen")))
            continue
        note = f"made of: {' ← '.join(loss.operations[:12])}" if loss.operations else ""
        grids.append(Grid(columns, rows, clean(caption), clean(note)))
    return Section("Losses", tuple(grids), tuple(remarks))


def _operand_row(operand: OperandFact) -> tuple[str, ...]:
    remarks = []
    if operand.rows_sum_to_one:
        remarks.append("rows sum to one")
    if operand.integral:
        remarks.append("whole numbers")
    if operand.distinct is not None:
        remarks.append(f"{count(operand.distinct)} distinct")
    if operand.requires_grad and operand.role != "prediction":
        remarks.append("carries gradient")
    if operand.role == "prediction" and not operand.requires_grad:
        remarks.append("carries no gradient")
    low, high = operand.minimum, operand.maximum
    written = setting if operand.integral else measure
    span = UNKNOWN if low is None or high is None else f"{written(low)} … {written(high)}"
    return (
        operand.role,
        shape(operand.shape),
        clean(operand.dtype.removeprefix("torch.")),
        span,
        measure(operand.mean),
        measure(operand.std),
        ", ".join(remarks),
    )


def data_section(trace: Trace) -> Section:
    """Data loaders, and how the targets are distributed."""
    columns = (
        Column("phase"),
        Column("data set"),
        Column("samples", numeric=True),
        Column("batch", numeric=True),
        Column("shuffled"),
        Column("sampler", spare=2),
        Column("workers", numeric=True, spare=3),
        Column("made at", spare=1),
    )
    rows = tuple(
        (
            loader.phase,
            clean(loader.dataset),
            count(loader.samples),
            count(loader.batch_size),
            {True: "yes", False: "no", None: UNKNOWN}[loader.shuffle],
            clean(loader.sampler),
            count(loader.workers),
            place(loader.created, trace.run),
        )
        for loader in trace.loaders
    )
    return Section("Data", (Grid(columns, rows),), tuple(_target_remarks(trace)))


def _target_remarks(trace: Trace) -> Iterator[Remark]:
    for target in trace.all(TargetFact):
        parts = [f"{count(target.samples)} looked at"]
        total = sum(target.class_counts.values())
        if total:
            ordered = sorted(target.class_counts.items(), key=lambda entry: -entry[1])
            told = ", ".join(f"{label}: {share(number / total)}" for label, number in ordered[:_MOST_CLASSES])
            rest = f", and {len(ordered) - _MOST_CLASSES} more" if len(ordered) > _MOST_CLASSES else ""
            parts.append(f"class {told}{rest}")
        elif target.mean is not None:
            parts.append(f"mean {measure(target.mean)}, standard deviation {measure(target.std)}")
        if target.constant_loss is not None:
            parts.append(f"best constant predictor's loss {measure(target.constant_loss)}")
        yield Remark("targets", clean("; ".join(parts)), clean(target.name))


def operation_section(trace: Trace) -> Section:
    """Functional calls other than activations, which stand among the layers."""
    columns = (
        Column("operation"),
        Column("kind"),
        Column("after", spare=2),
        Column("settings", spare=3),
        Column("at"),
    )
    rows = tuple(
        (
            clean(fact.function),
            fact.kind,
            clean(fact.after),
            settings_words(fact.settings),
            place(fact.site, trace.run),
        )
        for fact in trace.all(FunctionFact)
        if fact.kind != "activation"
    )
    return Section("Other operations", (Grid(columns, rows),))


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
