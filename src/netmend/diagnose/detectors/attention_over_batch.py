"""D417 AttentionOverBatch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.unit import Run
from netmend.vocabulary import FunctionFact, LoaderFact, ModelFact, ModuleFact, Site, Symptom, Trace

_PAIRS = "pair scores"


def _trace(shape: tuple[int, ...], axis: int, batch: int = 32) -> Trace:
    scores = FunctionFact("scores", "softmax", _PAIRS, settings={"axis": axis}, output_shape=shape)
    called = FunctionFact(
        "net.softmax@train.py:9",
        "softmax",
        "activation",
        "net",
        order=3,
        output_shape=shape,
        site=Site("train.py", 9),
    )
    loader = LoaderFact("loader", samples=500, batch_size=batch, phase="training")
    return Trace(
        facts={"function": {each.name: each for each in (scores, called)}, "loader": {"loader": loader}}
    )


@register
class AttentionOverBatch:
    """The weights of attention sum to 1 over the samples of the batch instead of over the positions.

    Each position of a sample then competes with the same position of other samples, and what one sample is told depends on the rest of its
    batch; nothing forces the weights of one query to share anything. The loss still falls, as the values pass through.
    Usual cause: softmax with dim=0, or with dim=1 copied from scores without an axis of samples.
    """

    code: ClassVar[str] = "D417"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        sizes = set(_batch_sizes(trace))
        for scores in trace.all(FunctionFact):
            if scores.kind != _PAIRS:
                continue
            shape, axis = scores.output_shape, scores.settings["axis"]
            if axis != 0 or shape[0] < 2 or shape[0] not in sizes:
                continue
            yield Symptom(
                self.code,
                f"The weights of attention {list(shape)} sum to 1 over axis 0, the samples of the batch.",
                component=scores.name,
                observed=float(axis),
                limit=float(len(shape) - 1),
                site=_called(trace, scores),
                detail={"axis": axis, "rank": len(shape)},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("over heads, of a first axis that is no batch", lambda: _trace((8, 14, 14), 0)),
        Run("over another axis", lambda: _trace((32, 4, 14, 14), 1)),
        Run("one sample", lambda: _trace((1, 14, 14), 0, batch=1)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("three axes", lambda: _trace((32, 1, 8), 0)),
        Run("several heads", lambda: _trace((32, 4, 8, 8), 0)),
    )


def _batch_sizes(trace: Trace) -> Iterator[int]:
    yield from (loader.batch_size for loader in trace.all(LoaderFact) if loader.batch_size)
    yield from (
        model.input_shapes[0][0]
        for model in trace.all(ModelFact)
        if model.input_shapes and model.input_shapes[0]
    )
    yield from (batch.size for batch in trace.batches if batch.phase == "training")


def _called(trace: Trace, scores: FunctionFact) -> Site | None:
    """The line of the softmax that gave this shape."""
    for fact in trace.all(FunctionFact):
        if fact.function == "softmax" and fact.site is not None and fact.output_shape == scores.output_shape:
            return fact.site
    for module in trace.all(ModuleFact):
        if module.activation == "softmax" and scores.output_shape in module.output_shapes:
            return module.created
    return None
