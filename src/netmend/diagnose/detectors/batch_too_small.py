"""D313 BatchTooSmall."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.data import batch_size, training_loader
from netmend.diagnose.measures.heads import minimised
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, LossFact, ModuleFact, OperandFact, RunFact, Site, Symptom, Trace


def _trace(size: int, kind: str, steps: int = 500, places: int = 1, shape: tuple[int, ...] = ()) -> Trace:
    loader = LoaderFact("loader", samples=500, batch_size=size, phase="training")
    layer = ModuleFact("model.bn", kind, order=1, input_shapes=(shape,) if shape else ())
    run = RunFact("example", "train.py", steps=steps)
    target = OperandFact("target", (size * places,), "int64")
    loss = LossFact("cross_entropy", "cross_entropy", operands=(target,), backward=Site("train.py", 20))
    return Trace(
        facts={
            "loader": {"loader": loader},
            "module": {"model.bn": layer},
            "run": {"example": run},
            "loss": {"cross_entropy": loss},
        }
    )


@register
class BatchTooSmall:
    """Batches hold so few samples that batch statistics or gradients are mostly noise.

    Batch normalisation estimates mean and spread from the batch: with two samples it replaces the signal by its sign. Gradients of single samples
    point in very different directions.
    """

    code: ClassVar[str] = "D313"

    least_for_norm: int = threshold(5, "convention", "samples from which a mean and a spread mean something")
    least_values: int = threshold(
        64, "convention", "values of a channel, at all places of an image, that give a mean and a spread"
    )
    least: int = threshold(3, "convention", "samples below which gradients are those of single samples")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        size = batch_size(trace)
        if size is None or size < 1 or not trace.run.steps or self._among_larger(trace, size):
            return
        normed = any(
            layer.kind.startswith("BatchNorm")
            and layer.order is not None
            and size * _places(layer) < self.least_values
            for layer in trace.layers()
        )
        limit = self.least_for_norm if normed else self.least
        if size >= limit or (not normed and _answers(trace) >= limit * size):
            return
        with_norm = ", and batch norm computes its statistics from them" if normed else ""
        yield Symptom(
            self.code,
            f"Training batches hold {size} sample{'s' if size > 1 else ''}{with_norm}.",
            observed=float(size),
            limit=float(limit),
            detail={"normed": normed, "size": size},
        )

    @staticmethod
    def _among_larger(trace: Trace, size: int) -> bool:
        """Several inputs of different length in every step (a condition at one point beside many samples): no batch size."""
        sizes = [batch.size for batch in trace.batches if batch.phase == "training"]
        return training_loader(trace) is None and sum(other > 4 * size for other in sizes) > 0.1 * len(sizes)

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("four samples without batch statistics", lambda: _trace(4, "LayerNorm")),
        Run("eight with them", lambda: _trace(8, "BatchNorm1d")),
        Run("one text, whose every letter is predicted", lambda: _trace(1, "LayerNorm", places=200)),
        Run("three images of many places", lambda: _trace(3, "BatchNorm2d", shape=(3, 16, 8, 8))),
        Run("nothing was trained", lambda: _trace(1, "LayerNorm", steps=0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("two with batch statistics", lambda: _trace(2, "BatchNorm2d")),
        Run("three images that are down to one place", lambda: _trace(3, "BatchNorm2d", shape=(3, 16, 1, 1))),
        Run("single samples", lambda: _trace(1, "LayerNorm")),
    )


def _places(layer: ModuleFact) -> int:
    """Places of one sample that a layer's statistics are taken over: those of an image, a sequence."""
    return math.prod(layer.input_shapes[0][2:]) if layer.input_shapes else 1


def _answers(trace: Trace) -> int:
    """Predictions in a batch: one sequence, or one image with an answer at every place, holds many."""
    shapes = [
        o.shape if o.dtype.startswith("int") else o.shape[:-1]  # class ids, or rows of numbers
        for loss in minimised(trace)
        for o in loss.operands
        if o.role == "target"
    ]
    return max((math.prod(shape) for shape in shapes), default=0)
