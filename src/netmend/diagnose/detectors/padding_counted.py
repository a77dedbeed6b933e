"""D315 PaddingCounted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import padding
from netmend.unit import Run, threshold
from netmend.vocabulary import (
    BatchPrint,
    LossFact,
    ModelFact,
    ModuleFact,
    OperandFact,
    Site,
    Symptom,
    TargetFact,
    Trace,
)

_LOSS = "cross_entropy@train.py:20"


def _trace(ignored: int, padding: int | None, counts: dict[str, int], tokens: int = 3) -> Trace:
    loss = LossFact(
        _LOSS,
        "cross_entropy",
        settings={"ignore_index": ignored, "classes": 3},
        backward=Site("train.py", 21),
    )
    layer = ModuleFact(
        "model.embed", "Embedding", settings={"padding_idx": padding, "num_embeddings": tokens}, order=0
    )
    return Trace(
        facts={
            "loss": {_LOSS: loss},
            "module": {layer.name: layer},
            "target": {_LOSS: TargetFact(_LOSS, 900, counts)},
        }
    )


def _tagged(
    shape: tuple[int, ...],
    lowest: float,
    ignored: int = -100,
    counts: tuple[int, ...] = (500, 200, 200),
    one: bool = False,
) -> Trace:
    """A tag for every token of 40 sequences of length 14, of whose tokens 10 fills a half; `one`: always the same sequence."""
    trace = _trace(-100, None, {str(tag): count for tag, count in enumerate(counts)})
    target = OperandFact("target", shape, "int64", minimum=lowest, maximum=2.0)
    loss = replace(trace.losses[0], operands=(target,), settings={"classes": 3, "ignore_index": ignored})
    rows = ((10.0, 0.5, 0.9, 0.0),)
    batches = tuple(
        BatchPrint(step, "training", 40, "model", (1,) * 40 if one else tuple(range(40)), "token", rows)
        for step in range(6)
    )
    model = ModelFact("model", "Tagger", input_shapes=((40, 14),))
    return Trace(facts={**trace.facts, "loss": {_LOSS: loss}, "model": {"model": model}}, batches=batches)


@register
class PaddingCounted:
    """Padding is among the targets of the loss and counts like any other token.

    The network is rewarded for predicting padding, which is easy and drowns what is to be learned. The padding token is known from the embedding
    (`padding_idx`); the loss should leave it out (`ignore_index`).
    """

    code: ClassVar[str] = "D315"

    match_limit: float = threshold(
        0.15, "convention", "difference of the shares of padding in inputs and of a class in targets"
    )
    share_limit: float = threshold(
        0.15, "convention", "share of padding among the targets from which it weighs"
    )

    least_sequences: int = threshold(
        20, "convention", "different sequences, for a class as frequent as padding to be more than chance"
    )
    lead_limit: float = threshold(
        1.5, "convention", "that class over the next one, so that it is the only candidate"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        share = self._share(trace)
        if share is None or share[0] < self.share_limit:
            return
        found, token, loss = share
        yield Symptom(
            self.code,
            f"{found:.0%} of the targets of {loss.criterion} are the padding token {token}, and none of them is excluded.",
            component=loss.name,
            observed=found,
            limit=self.share_limit,
            site=loss.created or loss.called,
        )

    def _share(self, trace: Trace) -> tuple[float, int, LossFact] | None:
        for loss in trace.losses:
            target = trace.get(TargetFact, loss.name)
            if loss.backward is None or target is None or loss.criterion not in ("cross_entropy", "nll_loss"):
                continue
            total = sum(target.class_counts.values())
            label = self._label(trace, loss, target) if total else None
            if (
                label is not None
                and loss.settings.get("ignore_index") != label
                and loss.settings.get("reduction") != "none"
            ):
                return target.class_counts.get(str(label), 0) / total, label, loss
        return None

    def _label(self, trace: Trace, loss: LossFact, target: TargetFact) -> int | None:
        """The class that stands for padding: the embedding's own token, or the class that is as frequent as padding is in the inputs."""
        classes = loss.settings.get("classes")
        for layer in trace.all(ModuleFact):
            token = layer.settings.get("padding_idx")
            if (
                "Embedding" in layer.kind
                and token is not None
                and layer.settings.get("num_embeddings") == classes
            ):
                return int(token)
        if int(loss.settings.get("ignore_index", -100)) >= 0:
            return None  # a token is left out by name: no reason to guess another one
        filled = padding(trace)
        if filled is None or not _per_token(trace, loss) or _marked(loss):
            return None
        if _different_sequences(trace) < self.least_sequences:
            return None  # of a few sequences, any class can be as frequent as padding
        total = sum(target.class_counts.values())
        name, count = max(target.class_counts.items(), key=lambda item: item[1])
        if sorted([0, *target.class_counts.values()])[-2] * self.lead_limit > count:
            return None  # several classes are about as frequent: nothing tells which one it would be
        alike = abs(count / total - filled[1]) < self.match_limit
        return int(name) if alike and name.lstrip("-").isdigit() else None

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        share = self._share(trace)
        return {} if share is None else {"share_limit": share[0]}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("left out", lambda: _trace(0, 0, {"0": 500, "1": 200, "2": 200})),
        Run("no padding is known", lambda: _trace(-100, None, {"0": 500, "1": 200})),
        Run("classes of whole texts", lambda: _trace(-100, 0, {"0": 500, "1": 400}, tokens=50)),
        Run("hardly any", lambda: _trace(-100, 0, {"0": 20, "1": 400, "2": 480})),
        Run("a class as frequent as padding, which is marked with -100", lambda: _tagged((40, 14), -100.0)),
        Run("a class as frequent as padding, which was selected away", lambda: _tagged((320,), 0.0)),
        Run(
            "a class as frequent as padding, which is left out by its own token",
            lambda: _tagged((40, 14), 0.0, 3),
        ),
        Run(
            "a class as frequent as padding in the only sequence there is",
            lambda: _tagged((40, 14), 0.0, one=True),
        ),
        Run("two classes as frequent as padding", lambda: _tagged((40, 14), 0.0, counts=(450, 420, 30))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("half is padding", lambda: _trace(-100, 0, {"0": 500, "1": 200, "2": 200})),
        Run("a class as frequent as padding, and nothing left out", lambda: _tagged((40, 14), 0.0)),
    )


def _different_sequences(trace: Trace) -> int:
    return len({value for batch in trace.batches if batch.phase == "training" for value in batch.hashes})


def _per_token(trace: Trace, loss: LossFact) -> bool:
    """Whether there is a target for every token rather than for every sequence."""
    shapes = [operand.shape for operand in loss.operands if operand.role == "target"]
    sizes = [batch.size for batch in trace.batches if batch.phase == "training"]
    return (
        bool(shapes and sizes) and math.prod(shapes[0]) >= 2 * max(sizes) and not _selected(trace, shapes[0])
    )


def _marked(loss: LossFact) -> bool:
    """Whether targets below zero, which are no classes, mark the places that the loss leaves out."""
    return any(operand.role == "target" and (operand.minimum or 0) < 0 for operand in loss.operands)


def _selected(trace: Trace, targets: tuple[int, ...]) -> bool:
    """Whether the loss is given fewer targets than there were tokens, one less per sequence aside: some are left out by hand."""
    seen = [
        model.input_shapes[0]
        for model in trace.models
        if model.input_shapes and len(model.input_shapes[0]) == 2
    ]
    return len(seen) == 1 and math.prod(targets) < seen[0][0] * (seen[0][1] - 1)
