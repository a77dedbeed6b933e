"""Models of sequences: padding, positions that are seen too early, targets that are not the next elements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.probes import probed
from netmend.diagnose.measures.batches import padding, prints
from netmend.unit import Run, convention, exact
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


def _padded(ignored: int, padding: int | None, counts: dict[str, int], tokens: int = 3) -> Trace:
    loss = LossFact(
        _LOSS,
        "cross_entropy",
        settings={"ignore_index": ignored, "classes": 3},
        backward=Site("train.py", 21),
    )
    layer = ModuleFact(
        "model.embed", "Embedding", settings={"padding_idx": padding, "num_embeddings": tokens}, order=0
    )
    return trace_of(loss, layer, TargetFact(_LOSS, 900, counts))


def _tagged(
    shape: tuple[int, ...],
    lowest: float,
    ignored: int = -100,
    counts: tuple[int, ...] = (500, 200, 200),
    one: bool = False,
) -> Trace:
    """A tag for every token of 40 sequences of length 14, of whose tokens 10 fills a half; `one`: always the same sequence."""
    trace = _padded(-100, None, {str(tag): count for tag, count in enumerate(counts)})
    target = OperandFact("target", shape, "int64", minimum=lowest, maximum=2.0)
    loss = replace(trace.losses[0], operands=(target,), settings={"classes": 3, "ignore_index": ignored})
    rows = ((10.0, 0.5, 0.9, 0.0),)
    batches = tuple(
        BatchPrint(step, "training", 40, "model", (1,) * 40 if one else tuple(range(40)), "token", rows)
        for step in range(6)
    )
    model = ModelFact("model", "Tagger", input_shapes=((40, 14),))
    return trace_of(loss, model, *batches, onto=trace)


class PaddingCounted(Detector, code="D315"):
    """Padding is among the targets of the loss and counts like any other token.

    The network is rewarded for predicting padding, which is easy and drowns what is to be learned. The padding token is known from the embedding
    (`padding_idx`); the loss should leave it out (`ignore_index`).
    """

    match_limit = convention(0.15, "difference of the shares of padding in inputs and of a class in targets")
    share_limit = convention(0.15, "share of padding among the targets from which it weighs")
    least_sequences = convention(
        20, "different sequences, for a class as frequent as padding to be more than chance"
    )
    lead_limit = convention(1.5, "that class over the next one, so that it is the only candidate")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        share = self._share(trace)
        if share is None or share[0] < self.share_limit:
            return
        found, token, loss = share
        message = f"{found:.0%} of the targets of {loss.criterion} are the padding token {token}, and none of them is excluded."
        yield self.symptom(message, loss.name, found, self.share_limit, site=loss.line)

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
        if (
            len({value for batch in prints(trace, "training") for value in batch.hashes})
            < self.least_sequences
        ):
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

    HEALTHY = {
        "left out": lambda: _padded(0, 0, {"0": 500, "1": 200, "2": 200}),
        "no padding is known": lambda: _padded(-100, None, {"0": 500, "1": 200}),
        "classes of whole texts": lambda: _padded(-100, 0, {"0": 500, "1": 400}, tokens=50),
        "hardly any": lambda: _padded(-100, 0, {"0": 20, "1": 400, "2": 480}),
        "a class as frequent as padding, which is marked with -100": lambda: _tagged((40, 14), -100.0),
        "a class as frequent as padding, which was selected away": lambda: _tagged((320,), 0.0),
        "a class as frequent as padding, which is left out by its own token": lambda: _tagged(
            (40, 14), 0.0, 3
        ),
        "a class as frequent as padding in the only sequence there is": lambda: _tagged(
            (40, 14), 0.0, one=True
        ),
        "two classes as frequent as padding": lambda: _tagged((40, 14), 0.0, counts=(450, 420, 30)),
    }
    FAULTY = {
        "half is padding": lambda: _padded(-100, 0, {"0": 500, "1": 200, "2": 200}),
        "a class as frequent as padding, and nothing left out": lambda: _tagged((40, 14), 0.0),
    }


def _per_token(trace: Trace, loss: LossFact) -> bool:
    """Whether there is a target for every token rather than for every sequence."""
    sizes = [batch.size for batch in trace.batches if batch.phase == "training"]
    if loss.target is None or not sizes:
        return False
    shape = loss.target.shape
    return math.prod(shape) >= 2 * max(sizes) and not _selected(trace, shape)


def _marked(loss: LossFact) -> bool:
    """Whether targets below zero, which are no classes, mark the places that the loss leaves out."""
    return loss.target is not None and (loss.target.minimum or 0) < 0


def _selected(trace: Trace, targets: tuple[int, ...]) -> bool:
    """Whether the loss is given fewer targets than there were tokens, one less per sequence aside: some are left out by hand."""
    seen = [
        model.input_shapes[0]
        for model in trace.models
        if model.input_shapes and len(model.input_shapes[0]) == 2
    ]
    return len(seen) == 1 and math.prod(targets) < seen[0][0] * (seen[0][1] - 1)


class FirstStepOnly(Detector, code="D610"):
    """What the model says about a sequence depends on its first step only.

    All later steps were exchanged for those of another sample, and the answer stayed the same to the last bit. Usual cause: the first output of
    a recurrent or causal layer is picked (`out[:, 0]`), which has seen one step, where the last one has seen them all.
    """

    least_step = convention(4, "parts that start at zero hide later steps until they have been updated")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("first step"):
            if not probe.values.get("alone") or probe.step < self.least_step:
                continue
            steps = probe.values["steps"]
            message = f"What {probe.component} says about a sequence of {steps} steps depends on the first one only."
            yield self.symptom(message, probe, detail=dict(probe.values))

    HEALTHY = {
        "all steps matter": lambda: probed("first step", step=16, alone=False, steps=28),
        "parts that start at zero": lambda: probed("first step", step=1, alone=True, steps=28),
    }
    FAULTY = {
        "the first output of a recurrent layer": lambda: probed(
            "first step", step=16, alone=True, steps=28, operation="select"
        )
    }


WHAT = "looking ahead"


def predicting(offset: int = 1, **values: Any) -> Trace:
    """A model of sequences, one element of which was changed."""
    asked = {"offset": offset, "share": 1.0, "distinct": 60, "ahead": 0.0, "behind": 0.2, "answer": 0.0}
    return probed(WHAT, **(asked | values))


class LooksAhead(Detector, code="D802"):
    """Each target is the next input, and the model's output at a position depends on later inputs.

    The answer is among what the model is given, so the loss falls far below what prediction can reach, and a text that is generated
    token by token, where nothing comes after, is nonsense. One element of the first batch was changed: in a causal model everything before it stays
    exactly as it was. Usual causes: attention without a causal mask, a recurrent layer in both directions, a convolution padded on both sides.
    """

    change_limit = exact(
        1e-4,
        "change before the changed position, as a share of the largest change: 0 in a causal model; rounding is allowed for",
    )
    distinct_limit = convention(5, "different tokens; fewer agree with their neighbours by chance")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes(WHAT):
            values = probe.values
            ahead = float(values.get("ahead") or 0.0)
            if values["offset"] != 1 or 0 < values["distinct"] < self.distinct_limit:
                continue
            if ahead <= self.change_limit:
                continue
            message = f"Each target is the next input, and changing one input changed what {probe.component} outputs at earlier positions."
            yield self.symptom(
                message,
                (str(values.get("module") or probe.component), probe.site),
                observed=ahead,
                limit=self.change_limit,
                detail=dict(values),
                first_step=probe.step,
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [float(p.values.get("ahead") or 0.0) for p in trace.probes(WHAT) if p.values["offset"] == 1]
        return {"change_limit": max(found)} if found else {}

    HEALTHY = {
        "causal": lambda: predicting(ahead=9e-5),
        "an autoencoder sees everything": lambda: predicting(0, ahead=0.3, answer=1.0),
        "could not be replayed": lambda: predicting(ahead=None, behind=None, answer=None),
        "two symbols that repeat": lambda: predicting(ahead=0.1, distinct=2),
    }
    FAULTY = {
        "attention without a mask": lambda: predicting(
            ahead=0.02, operation="softmax", module="model.a", kind="Attention"
        ),
        "real numbers": lambda: predicting(
            ahead=0.5, distinct=0, operation="lstm", module="model.rnn", kind="LSTM"
        ),
    }


_WORDS = {
    0: "The target at each position is the same token as the input there",
    -1: "The target at each position is the previous token, which the model has already seen",
    2: "The target at each position is the token after the next",
}


class TargetsNotNext(Detector, code="D803"):
    """A causal model of tokens gets targets that are not the next tokens, but the same, the last, or those after the next.

    A model that is asked for what it was just given copies it: accuracy is soon 100 %, and nothing is learned about the text. Targets shifted
    twice leave one token out. Usual causes: a forgotten `+ 1` in the slice that makes the targets, a shift in the data and once more
    in the model.
    """

    noise = exact(1e-4, "change that is none, as a share of the largest")
    distinct_limit = convention(5, "different tokens; echoing a few symbols is an exercise in memory")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes(WHAT):
            values = probe.values
            offset, ahead = values["offset"], values.get("ahead")
            if offset not in _WORDS or values["distinct"] < self.distinct_limit or ahead is None:
                continue
            # What looks ahead may be an autoencoder; what no later position hears of is no model of sequences.
            if ahead > self.noise or values["behind"] <= self.noise:
                continue
            if offset < 1 and values["answer"] <= self.noise:
                continue  # the model itself moves its input by one
            message = f"{_WORDS[offset]} ({values['share']:.0%} of the first batch)."
            yield self.symptom(message, probe, float(offset), 1.0, dict(values))

    HEALTHY = (
        *LooksAhead.HEALTHY,
        Run("the model moves its input by one", lambda: predicting(0)),
        Run("each position on its own", lambda: predicting(0, behind=0.0, answer=1.0)),
        Run("real numbers, two steps ahead", lambda: predicting(2, distinct=0)),
    )
    FAULTY = {
        "the inputs themselves": lambda: predicting(0, answer=1.0),
        "shifted the wrong way": lambda: predicting(-1, answer=0.3),
        "shifted twice": lambda: predicting(2),
    }
