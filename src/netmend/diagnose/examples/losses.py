"""Small literal runs for the examples of detectors that judge what a loss is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netmend.diagnose.examples.curves import trace_of
from netmend.vocabulary import (
    BatchPrint,
    Event,
    Fact,
    FunctionFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OperandFact,
    OptimizerFact,
    RunFact,
    Site,
    Table,
    TargetFact,
    Trace,
)

MADE, CALLED, BACKWARD = Site("train.py", 18), Site("train.py", 30), Site("train.py", 31)
LINEAR = ("AddmmBackward0", "ReluBackward0", "AddmmBackward0")


def given(
    *shape: int,
    through: Sequence[str] = (),
    low: float = -2.0,
    high: float = 2.0,
    axes: Sequence[int] = (),
    log_axes: Sequence[int] = (),
) -> OperandFact:
    """A prediction made by a linear layer and then the nodes of `through`, the last one first."""
    return OperandFact(
        "prediction",
        shape,
        "float32",
        True,
        low,
        high,
        (low + high) / 2,
        (high - low) / 4,
        False,
        1 in axes,
        normalised_axes=tuple(axes),
        log_normalised_axes=tuple(log_axes),
        path=(*(f"{name}Backward0" for name in through), *LINEAR),
    )


def wanted(
    *shape: int,
    low: float = 0.0,
    high: float = 3.0,
    whole: bool = True,
    distinct: int | None = None,
    dtype: str = "int64",
    std: float | None = None,
    axes: Sequence[int] = (),
) -> OperandFact:
    """A target."""
    return OperandFact(
        "target",
        shape,
        dtype,
        False,
        low,
        high,
        (low + high) / 2,
        (high - low) / 3 if std is None else std,
        whole,
        None,
        distinct if distinct is not None else (int(high - low) + 1 if whole else None),
        normalised_axes=tuple(axes),
    )


def run_of(
    criterion: str,
    *operands: OperandFact,
    settings: Mapping[str, Any] | None = None,
    course: Sequence[float] = (),
    constant: float = float("nan"),
    more: Sequence[Fact] = (),
    batches: Sequence[BatchPrint] = (),
    tables: Sequence[Table] = (),
    form: str = "module",
    exception: str | None = None,
    operations: Sequence[str] = (),
    targets: TargetFact | None = None,
) -> Trace:
    """A run with one loss: what it was given, and its value over the steps."""
    name = f"{criterion}@train.py:30"
    crashed = exception is not None
    loss = LossFact(
        name,
        criterion,
        form,
        settings or {"reduction": "mean"},
        operands,
        tuple(operations),
        MADE if form == "module" else None,
        CALLED,
        None if crashed else BACKWARD,
    )
    run = RunFact(
        "example",
        "train.py",
        steps=len(course) or 50,
        status="failed" if crashed else "finished",
        exception=exception,
        exception_site=CALLED if crashed else None,
    )
    model = ModelFact("model", "Net", called=Site("train.py", 29), created=Site("train.py", 16))
    optimizer = OptimizerFact("optimizer", "SGD", created=Site("train.py", 19))
    return trace_of(
        run,
        model,
        optimizer,
        None if crashed and not operands else loss,
        *more,
        targets,
        *tables,
        Table.of("progress", name, {n: (value, constant) for n, value in enumerate(course)})
        if course
        else None,
        Event(0, "exception", exception or "", site=CALLED) if crashed else None,
        *batches,
    )


def layer(activation: str, *shape: int, order: int = 5, **settings: Any) -> ModuleFact:
    """The activation module that ends a model."""
    return ModuleFact(
        f"model.{activation}",
        activation.title(),
        "model",
        settings=settings,
        activation=activation,
        order=order,
        calls=1,
        output_shapes=(shape,),
        created=Site("train.py", 12),
        called=Site("train.py", 15),
    )


def call(function: str, *shape: int, kind: str = "activation", **settings: Any) -> FunctionFact:
    """A functional call inside the model, or between it and the loss (kind "loss path")."""
    return FunctionFact(
        f"{function}@train.py:14",
        function,
        kind,
        "model" if kind == "activation" else "",
        settings=settings,
        order=6,
        output_shape=shape,
        site=Site("train.py", 14),
    )
