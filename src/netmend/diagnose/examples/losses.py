"""Small literal runs for the examples of detectors that judge what a loss is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netmend.diagnose.examples.curves import Part as TracePart
from netmend.diagnose.examples.curves import trace_of
from netmend.vocabulary import (
    Event,
    FunctionFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OperandFact,
    OptimizerFact,
    RunFact,
    Site,
    Table,
    Trace,
)

Part = OperandFact | TracePart
MADE, CALLED, BACKWARD = Site("train.py", 18), Site("train.py", 30), Site("train.py", 31)
LINEAR = ("AddmmBackward0", "ReluBackward0", "AddmmBackward0")


# What the functions that end a model give: lowest and highest value.
_RANGES = {
    "Softmax": (0, 1),
    "LogSoftmax": (-2.0, 0.0),
    "Sigmoid": (0.1, 0.9),
    "Relu": (0, 2),
    "Clamp": (0, 1),
}


def given(
    *parts: int | str,
    low: float | None = None,
    high: float | None = None,
    axes: Sequence[int] | None = None,
    log_axes: Sequence[int] | None = None,
) -> OperandFact:
    """A prediction: its shape, and the functions that made it of a linear layer's output, the last one first.

    Softmax gives shares along axis 1, log-softmax their logarithms, unless other axes are named.
    """
    shape = tuple(part for part in parts if isinstance(part, int))
    through = [part for part in parts if isinstance(part, str)]
    last = through[0] if through else ""
    usual = _RANGES.get(last, (-2.0, 2.0))
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    axes = [1] * (last == "Softmax") if axes is None else axes
    log_axes = [1] * (last == "LogSoftmax") if log_axes is None else log_axes
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
    *parts: Part,
    course: Sequence[float] = (),
    constant: float = float("nan"),
    form: str = "",
    exception: str | None = None,
    operations: Sequence[str] = (),
    **settings: Any,
) -> Trace:
    """A run with one loss: what it was given and its settings, its value over the steps, and whatever else is known."""
    name = f"{criterion}@train.py:30"
    crashed = exception is not None
    form = form or ("expression" if criterion == "expression" else "module")
    operands = tuple(part for part in parts if isinstance(part, OperandFact))
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
    return trace_of(
        run,
        ModelFact("model", "Net", called=Site("train.py", 29), created=Site("train.py", 16)),
        OptimizerFact("optimizer", "SGD", created=Site("train.py", 19)),
        None if crashed and not operands else loss,
        Table.of("progress", name, {n: (value, constant) for n, value in enumerate(course)})
        if course
        else None,
        Event(0, "exception", exception, site=CALLED) if exception is not None else None,
        *(part for part in parts if not isinstance(part, OperandFact)),
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
