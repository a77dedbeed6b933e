"""Operations that run over the wrong axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of
from netmend.diagnose.examples.losses import given, layer, run_of, wanted
from netmend.diagnose.examples.probes import mixed, recurrent, swapped
from netmend.diagnose.measures.heads import Head, heads, place_of, seen_at, written
from netmend.library.losses import BINARY
from netmend.unit import calibrated, exact
from netmend.vocabulary import (
    FunctionFact,
    LoaderFact,
    ModelFact,
    ModuleFact,
    ProbeFact,
    Site,
    Symptom,
    Trace,
)

_CLASS_LOSSES = ("cross_entropy", "nll_loss")
_OTHER_LOSSES = ("kl_div", *BINARY, "mse_loss", "l1_loss")


class SoftmaxOverWrongAxis(Detector, code="D408"):
    """The outputs sum to 1 over the samples of the batch (or another axis) instead of over the classes.

    The answer for one sample then depends on the others in its batch, and each class is shared out among the samples. The loss
    may even fall while accuracy stays at chance. Usual causes: softmax with dim=0, or without the axis that is meant; cross entropy
    given a vector of one score per sample.
    """

    least_samples = exact(2, "over a single sample everything sums to one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            axis = self._axis(head)
            if axis is not None:
                function = head.last if head.last in ("softmax", "log_softmax") else "softmax"
                place = place_of(trace, head, function)
                over = "the samples of the batch" if axis == 0 else f"axis {axis}"
                instead = f", not over the classes on axis {head.class_axis}" if head.class_axis else ""
                message = f"The predictions {list(head.given.shape)} sum to 1 over {over}{instead}."
                detail = {"function": function, "loss": head.loss.name}
                yield self.symptom(message, seen_at(place, head), float(axis), detail=detail)
            elif self._vector(head):
                message = f"`cross_entropy` got a vector of {head.given.shape[0]} scores, which it treats as one sample with that many classes."
                detail = {"function": "", "loss": head.loss.name}
                yield self.symptom(message, head.loss, detail=detail)

    def _axis(self, head: Head) -> int | None:
        """The axis that the predictions are normalised along, if it is not that of the classes."""
        seen, target = head.given, head.target
        if not seen.shape or (target is not None and 0 in target.normalised_axes):
            return None
        axes = seen.normalised_axes or seen.log_normalised_axes
        if head.loss.criterion in _CLASS_LOSSES and len(seen.shape) > 1:
            wrong = [axis for axis in axes if axis != head.class_axis]
            return wrong[0] if wrong and head.class_axis not in axes else None
        if head.loss.criterion in _OTHER_LOSSES:
            only_samples = axes == (0,) and head.last in ("softmax", "log_softmax")
            return 0 if only_samples and seen.shape[0] >= self.least_samples else None
        return None

    def _vector(self, head: Head) -> bool:
        """One score per sample, laid out as if they were the classes of a single sample."""
        target = head.target
        return (
            head.loss.criterion == "cross_entropy"
            and len(head.given.shape) == 1
            and head.given.shape[0] >= self.least_samples
            and target is not None
            and target.shape == head.given.shape
            and 0 not in target.normalised_axes
        )

    HEALTHY = {
        "log-softmax over the classes": lambda: run_of("nll_loss", given(16, 4, "LogSoftmax"), wanted(16)),
        "classes on axis 1 of a sequence": lambda: run_of(
            "nll_loss", given(8, 4, 5, "LogSoftmax"), wanted(8, 5)
        ),
        "a ranking: scores of a list against shares that sum to one": lambda: run_of(
            "cross_entropy", given(16), wanted(16, high=1, whole=False, axes=[0])
        ),
        "one sample alone": lambda: run_of("nll_loss", given(1, 4, "LogSoftmax"), wanted(1)),
    }
    FAULTY = {
        "log-softmax over the batch": lambda: run_of(
            "nll_loss",
            given(16, 4, "LogSoftmax", low=-5, high=-0.1, log_axes=[0]),
            wanted(16),
            layer("log_softmax", 16, 4, dim=0),
        ),
        "softmax over the batch, for a loss on probabilities": lambda: run_of(
            "binary_cross_entropy",
            given(16, 1, "Softmax", high=0.3, axes=[0]),
            wanted(16, 1, high=1),
            layer("softmax", 16, 1, dim=0),
        ),
        "a vector of scores into cross entropy": lambda: run_of(
            "cross_entropy", given(16), wanted(16, high=1, dtype="float32")
        ),
    }


_PAIRS = "pair scores"


def _attending(shape: tuple[int, ...], axis: int, batch: int = 32) -> Trace:
    site = Site("train.py", 9)
    return trace_of(
        FunctionFact("scores", "softmax", _PAIRS, settings={"axis": axis}, output_shape=shape),
        FunctionFact(
            "net.softmax@train.py:9", "softmax", "activation", "net", order=3, output_shape=shape, site=site
        ),
        LoaderFact("loader", samples=500, batch_size=batch, phase="training"),
    )


class AttentionOverBatch(Detector, code="D417"):
    """The weights of attention sum to 1 over the samples of the batch instead of over the positions.

    Each position of a sample then competes with the same position of other samples, and what one sample is told depends on the rest of its
    batch; nothing forces the weights of one query to share anything. The loss still falls, as the values pass through.
    Usual cause: softmax with dim=0, or with dim=1 copied from scores without an axis of samples.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        sizes = set(_batch_sizes(trace))
        for scores in trace.all(FunctionFact):
            if scores.kind != _PAIRS:
                continue
            shape, axis = scores.output_shape, scores.settings["axis"]
            if axis != 0 or shape[0] < 2 or shape[0] not in sizes:
                continue
            message = (
                f"The weights of attention {list(shape)} sum to 1 over axis 0, the samples of the batch."
            )
            yield self.symptom(
                message, scores.name, float(axis), float(len(shape) - 1), site=_called(trace, scores)
            )

    HEALTHY = {
        "over heads, of a first axis that is no batch": lambda: _attending((8, 14, 14), 0),
        "over another axis": lambda: _attending((32, 4, 14, 14), 1),
        "one sample": lambda: _attending((1, 14, 14), 0, batch=1),
    }
    FAULTY = {
        "three axes": lambda: _attending((32, 1, 8), 0),
        "several heads": lambda: _attending((32, 4, 8, 8), 0),
    }


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


class SamplesMixed(Detector, code="D601"):
    """The model's output for one sample depends on the other samples of the batch.

    In eval mode, one sample of the first batch was replaced, and the outputs for others changed: information leaks between samples
    that have nothing to do with each other, and the model cannot work on one sample alone.
    Usual causes: a recurrent or attention layer that takes the first axis for time, view() instead of transpose(), an index or
    a mean over the wrong axis.
    """

    change_limit = calibrated(
        1e-3,
        "change of other samples' outputs, as a share of the spread between samples: rounding makes below 1e-6 of it, "
        "and healthy programs of the calibration corpus show exactly 0; a mix-up shows 0.05 and more",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("batch independence"):
            values = probe.values
            if not _is_sample_axis(trace, values):
                continue
            lost = values.get("axis") == "lost"
            if not lost and not self._change(probe) > self.change_limit:
                continue
            detail = dict(values)
            yield self.symptom(
                _message(probe, lost), probe, None if lost else self._change(probe), self.change_limit, detail
            )

    def _change(self, probe: ProbeFact) -> float:
        return float(probe.values.get("others") or 0.0)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = [
            self._change(p) for p in trace.probes("batch independence") if _is_sample_axis(trace, p.values)
        ]
        return {"change_limit": max(found)} if found else {}

    HEALTHY = {
        "nothing but rounding": lambda: mixed(2e-4),
        "time comes first on purpose": lambda: recurrent(
            given=(32, 10, 6), output=(32, 10, 3), target=(320,)
        ),
        "points of one cloud": lambda: mixed(given=(500, 3), output=(500, 4), target=(500,), loader=0),
        "batch norm without running averages": lambda: mixed(
            kind="BatchNorm1d", operation="native_batch_norm"
        ),
        "discriminator that looks at its batch": lambda: mixed(optimizers=2),
        "targets of another size": lambda: mixed(target=(8,)),
        "as many steps as samples, time first": lambda: mixed(
            axis="lost", layers_batch_first=False, loader=0
        ),
    }
    FAULTY = {
        "a view that is no transpose": lambda: mixed(),
        "recurrent layer over samples": lambda: recurrent(),
        "the last sample instead of the last step": lambda: mixed(
            operation="select",
            axis="lost",
            layers_batch_first=True,
            loader=0,
            given=(16, 16),
            output=(16, 1),
            target=(16,),
        ),
    }


def _message(probe: ProbeFact, lost: bool) -> str:
    values = probe.values
    batch = values["batch"]
    if lost:
        return (
            f"`{probe.component}` returns {batch} rows for {batch} samples only by chance: "
            f"with {values['rows']} samples it still returns {batch}."
        )
    return (
        f"Replacing one sample of the first batch changed the output of {probe.component} for others "
        f"by {float(values['others']):.0%} of the spread between samples."
    )


def _is_sample_axis(trace: Trace, values: Mapping[str, Any]) -> bool:
    """Whether the first axis surely holds samples that have nothing to do with each other."""
    given, output, target = (tuple(values.get(f"{name}_shape", ())) for name in ("input", "output", "target"))
    batch = values.get("batch")
    if not given or not target or target[0] != batch or not output or output[0] != batch:
        return False
    if str(values.get("kind", "")).startswith("BatchNorm"):
        return False
    if sum(optimizer.stepped is not None for optimizer in trace.optimizers) > 1:
        return False  # adversaries may compare whole batches
    from_loader = values.get("loader_batch") == batch and batch not in given[1:]
    if values.get("axis") == "lost":
        return bool(values.get("layers_batch_first"))
    if values.get("batch_first") is not None:
        inner = tuple(values.get("module_input", ()))
        steps = inner[1] if len(inner) == 3 and inner[0] == batch else 1
        return from_loader or (steps > 1 and steps not in output[1:])
    return from_loader or (len(given) > 2 and len(output) <= 2)


class AxesSwapped(Detector, code="D609"):
    """A view or reshape in the forward pass, or between network and loss, gives back the same axes in another order.

    view() only reads the same numbers in rows of another length. It does not move an axis: what comes out as one axis is a medley of
    both, and neighbouring values have nothing to do with each other.
    Usual cause: view() or reshape() where transpose() or permute() was meant.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("axis order"):
            before, after = tuple(probe.values["before"]), tuple(probe.values["after"])
            sizes = [[n for n in shape if n != 1] for shape in (before, after)]
            # seen in memory: the loss reads scores of different samples as one's
            classes = bool(probe.values.get("classes"))
            if not classes and (sizes[0] == sizes[1] or sorted(sizes[0]) != sorted(sizes[1])):
                continue
            message = f"A {probe.values['operation']}() turns {written(before)} into {written(after)}: the axes are swapped, but the values are not moved."
            yield self.symptom(
                message,
                (str(probe.values.get("module", "")) or probe.component, probe.site),
                detail={
                    "before": before,
                    "after": after,
                    "operation": probe.values["operation"],
                    "classes": classes,
                },
                first_step=probe.step,
            )

    HEALTHY = {
        "an axis of one element moves": lambda: swapped((32, 1, 30), (32, 30, 1)),
        "frames in pairs": lambda: swapped((32, 30, 6), (32, 15, 12)),
    }
    FAULTY = {
        "time and channels": lambda: swapped(),
        "pixels and classes, before the loss": lambda: swapped((8, 5, 32, 32), (8192, 5), classes=True),
        "samples and time": lambda: swapped((32, 10, 6), (10, 32, 6)),
    }
