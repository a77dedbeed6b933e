"""Axes that are mixed up, and shapes that do not fit or fit by being broadcast."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from netmend.diagnose.detectors.axes import AxesSwapped
from netmend.diagnose.detectors.loss_inputs import SilentBroadcast
from netmend.diagnose.detectors.output_ranges import OutputWidthMismatch
from netmend.diagnose.detectors.processes import Crashed
from netmend.diagnose.detectors.sequences import FirstStepOnly
from netmend.diagnose.examples.curves import crashed
from netmend.diagnose.examples.losses import run_of
from netmend.diagnose.examples.probes import mixed
from netmend.diagnose.measures.ending import failing_layer, layer_before
from netmend.diagnose.measures.heads import Head
from netmend.diagnose.measures.progress import progress
from netmend.library.operations import ATEN_VIEWS
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import ANY, STUCK, stopped
from netmend.localise.lines.head_lines import head_of, last_layer, objective_line, text_at
from netmend.localise.lines.values import given_line, reshaping
from netmend.localise.outcome import harm, relief
from netmend.program.settings import argument_origin
from netmend.unit import Run, convention
from netmend.vocabulary import Evidence, Fault, ModelFact, ModuleFact, Site, Symptom

VIEWS = (*ATEN_VIEWS, "unflatten")


class AxesMixed(Cause, code="TSR-SHAPE"):
    """view() or reshape() is used where an axis has to be moved.

    Both only cut the same row of numbers into pieces of other lengths: time steps, channels or samples end up interleaved.
    Use `transpose` or `permute`, followed by `contiguous()` or `reshape` where needed.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        told: set[str] = set()
        for symptom in case.of("D609", "D601"):
            if symptom.code == "D601" and symptom.detail.get("operation") not in VIEWS:
                continue
            if str(symptom.site) in told:
                continue
            told.add(str(symptom.site))
            seen_at_loss = bool(symptom.detail.get("classes"))
            site = given_line(case.sources, symptom.site) if seen_at_loss else symptom.site
            also = [s for s in case.of("D601") if s is not symptom and s.site == symptom.site]
            yield self.fault(
                symptom,
                [
                    for_symptom(symptom, PROVEN),
                    *(for_symptom(other, PROVEN) for other in also),
                    *harm(case),
                    *relief(case),
                ],
                site=site,
                reason="Reshaping keeps the order in memory, so unrelated values end up next to each other.",
                remedy=_permutation(case, symptom, site),
                refutation="The data in memory really is in the order of the new shape.",
                explains=(*ANY, "D303", "D310", "D311", "D602"),
            )

    FAULTY = (*AxesSwapped.FAULTY, Run("a view over samples", lambda: mixed()))


def _permutation(case: Case, symptom: Symptom, site: Site | None) -> str:
    """The permutation that was meant, where sizes tell it."""
    line = case.sources.line(site) if site is not None else ""
    where = f"`{line}`" if line else "this view"
    before, after = symptom.detail.get("before"), symptom.detail.get("after")
    if before is None or after is None or len(set(before)) != len(before):
        return f"Move the axis with `transpose` or `permute` instead of {where}."
    if symptom.detail.get("classes") and len(after) == 2:
        last = list(before).index(after[1])
        order = ", ".join(str(axis) for axis in (*(a for a in range(len(before)) if a != last), last))
        return (
            f"Move the class axis to the end first, `permute({order}).reshape(-1, {after[1]})`, in {where}."
        )
    if sorted(before) != sorted(after):
        return f"Move the axis with `transpose` or `permute` instead of {where}."
    order = ", ".join(str(list(before).index(size)) for size in after)
    return f"Use `permute({order})` instead of {where}."


_PICKS = ("select", "index", "slice", "gather", "index_select", "unbind", "narrow")


class WrongAxisIndexed(Cause, code="TSR-INDEX"):
    """An index, a mean or another operation over one axis is applied to the axis of the samples.

    With batches first, `out[-1]` is the last sample, not the last step; `x.mean(0)` averages over samples that have nothing to do with each
    other.
    Name the axis that is meant: `out[:, -1]`, `x.mean(1)`.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D601"):
            operation = str(symptom.detail.get("operation", ""))
            if not operation or operation in VIEWS or symptom.detail.get("batch_first") is not None:
                continue
            softmax = "softmax" in operation
            picks = operation in _PICKS or softmax
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN if picks else FAIR), *harm(case), *relief(case)],
                code="ACT-DIM" if softmax else self.code,
                reason="The operation runs over the batch axis, so values of one sample leak into others.",
                remedy=_index_remedy(case, symptom, operation),
                refutation="The first axis is not the batch, or samples are compared on purpose.",
                explains=(*ANY, "D310", "D311", "D408", "D602"),
            )

        for symptom in case.of("D610"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                reason="The first output of a recurrent or causal layer has seen one step; only the last one has seen the whole sequence.",
                remedy=f"Take the last step in {_where(case, symptom)}: `out[:, -1]` where samples come first, `out[-1]` where time does.",
                refutation="Only the first step is meant to count.",
                explains=(*ANY, "D125", "D310", "D311", "D408", "D602"),
            )

    FAULTY = (
        *FirstStepOnly.FAULTY,
        Run(
            "the last sample instead of the last step",
            lambda: mixed(
                operation="select",
                axis="lost",
                layers_batch_first=True,
                loader=0,
                given=(16, 16),
                output=(16, 1),
                target=(16,),
            ),
        ),
        Run("softmax over the batch", lambda: mixed(operation="softmax"), "ACT-DIM"),
    )


def _where(case: Case, symptom: Symptom) -> str:
    line = case.sources.line(symptom.site) if symptom.site is not None else ""
    return f"`{line}`" if line else "the line"


def _index_remedy(case: Case, symptom: Symptom, operation: str) -> str:
    where = _where(case, symptom)
    if operation in _PICKS:
        return f"Index the intended axis in {where}: `[:, -1]` is the last step if the batch comes first."
    return f"Apply {where} to another axis than the first, which is the batch."


class OutputWidth(Cause, code="LYR-OUT-SHAPE"):
    """The last layer has too few or too many outputs for the targets.

    Classes need one output each, real targets one each. With fewer, a class id has no output, or one answer must serve several targets.
    Set the width of the last layer to the number of classes or targets.
    """

    well_fitted = convention(
        0.3, "a loss this far below the best constant prediction: the targets are met all the same"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D406", "D411"):
            what = symptom.detail.get("what", "")
            if what not in ("single class", "width", "class id"):
                continue
            head = head_of(case, symptom)
            layer = last_layer(case, head)
            site, related = self._lines(case, layer, symptom)
            yield self.fault(
                symptom,
                [
                    for_symptom(symptom, STRONG + 1.5 if what == "width" else PROVEN + 1.5),
                    *self._against(case, head),
                ],
                component=layer.name if layer is not None else symptom.component,
                site=site,
                reason="Every class or target needs its own output.",
                remedy=f"Set the width of the last layer at {text_at(case, site)} to {_needed(case, symptom)}.",
                refutation="The outputs share a target on purpose, like the members of an ensemble.",
                related=[*related, symptom.site],
                explains=(*STUCK, "D306", "D701"),
            )

    def _against(self, case: Case, head: Head | None) -> Iterator[Evidence]:
        """Several outputs for one target do no harm where all of them learn it."""
        for course in progress(case.trace):
            share = course.last_relative if head is not None and course.loss == head.loss.name else None
            if share is not None and 0 < share < self.well_fitted:
                text = f"The loss ended at {share:.2g} times that of the best constant prediction."
                yield Evidence(text, -STRONG - FAIR)

    @staticmethod
    def _lines(
        case: Case, layer: ModuleFact | None, symptom: Symptom
    ) -> tuple[Site | None, tuple[Site | None, ...]]:
        if layer is None or layer.created is None:
            return symptom.site, ()
        name, position = ("out_channels", 1) if "out_channels" in layer.settings else ("out_features", 1)
        origin = argument_origin(case.sources, layer.created, name, position)
        if origin is None:
            return layer.created, (layer.called,)
        return origin.site, (layer.created, layer.called)

    FAULTY = (
        *OutputWidthMismatch.FAULTY,
        Run(
            "more classes than outputs",
            lambda: run_of("cross_entropy", exception="IndexError: Target 9 is out of bounds."),
        ),
    )


def _needed(case: Case, symptom: Symptom) -> str:
    what = symptom.detail["what"]
    if what == "class id":
        label = int(symptom.detail["label"])
        if label < 0:
            return "the number of classes, and number the classes from 0"
        return f"the number of classes (at least {label + 1}), or number the classes from 0"
    return "the number of classes" if what == "single class" else "the number of targets per sample"


@accuses("TSR-SQUEEZE", SilentBroadcast)
def shapes_broadcast(case: Case, symptom: Symptom) -> Accusation:
    """Predictions and targets differ by an axis of length one and are broadcast against each other.

    [N, 1] minus [N] is an N × N table: every prediction is compared with all targets, and the best it can do is their mean.
    Bring both to the same shape before the loss, naming the axis: `squeeze(1)` or `unsqueeze(1)`.
    """
    first, second = symptom.detail["first"], symptom.detail["second"]
    change = (
        "`.squeeze(1)` to the predictions" if len(first) > len(second) else "`.squeeze(1)` to the targets"
    )
    raised = bool(symptom.detail.get("raised"))
    models = [model.called for model in case.trace.models]
    site = objective_line(case, symptom.site)
    return Accusation(
        PROVEN + 1.5,
        site=site,
        reason="The loss compares elementwise, so predictions and targets must have the same shape."
        if raised
        else "Each prediction is compared with the targets of all samples, so the model learns their mean.",
        remedy=f"Add {change} before {text_at(case, site)}, so that both have the same shape.",
        refutation="The loss compares all pairs of samples on purpose.",
        related=[symptom.site, *models],
        explains=(*STUCK, "D406", "D412", "D701"),
    )


_TYPES = re.compile(
    r"expected scalar type|must have the same dtype|to have the same dtype|same data type|"
    r"type \(.*\) should be the same|expected target dtype|not implemented for '|scalar types:? |"
    r"can't be cast to the desired|Found dtype|could not infer output dtype|Expected floating point type|"
    r"must be Tensor, not|Expected object of scalar type|numpy\.object_|must be torch\.|only Tensors of floating point"
)
_DEVICE = re.compile(r"cuda\.|same device")
_LOSS = re.compile(r"target|nll_loss|cross_entropy|mse|Found dtype|bce", re.I)


@accuses(
    "INP-TYPE",
    Crashed,
    faulty=(
        Run(
            "labels as floats",
            lambda: crashed("RuntimeError: expected target dtype to be Long or Byte, but got Float"),
        ),
    ),
)
def argument_types(case: Case, symptom: Symptom) -> Accusation | None:
    """A layer, a loss or an operation gets numbers of the wrong type.

    Layers want float32, class labels must be whole numbers (long), embeddings take indices.
    Convert once, where the data is made.
    """
    text = str(symptom.detail["exception"])
    if not _TYPES.search(text) or _DEVICE.search(text):
        return None
    layer = failing_layer(case.trace)
    model = case.trace.get(ModelFact, layer.model) if layer is not None else None
    first = layer is not None and layer_before(case.trace, layer) is None
    loss = bool(_LOSS.search(text)) and layer is None
    place = model.called if first and model is not None else None
    return stopped(
        symptom,
        "This operation does not work with the tensor's data type.",
        "Convert the labels with `.long()` for class losses and with `.float()` for all others."
        if loss
        else "Convert the data to `torch.float32` where it is made, or with `.float()` before the model.",
        PROVEN + 0.5,
        code="INP-TYPE" if layer is not None or loss else "INP-TENSOR-TYPE",
        component=layer.name if layer is not None else ("loss" if loss else "operation"),
        site=place,
        related=[symptom.site, *(loader.created for loader in case.trace.loaders[:1])],
    )


_BATCH = re.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_TARGET = re.compile(r"Expected target size|multi-target not supported|only batches of spatial targets")
_SHAPE = re.compile(
    r"must match the size of tensor|is invalid for input of size|Sizes of tensors must match|"
    r"must match the existing size|view size is not compatible|Expected size for first two dimensions|"
    r"inconsistent tensor size|shape mismatch|not broadcastable|cannot be broadcast"
)
_INDEX = re.compile(
    r"Dimension out of range|is out of bounds for dimension|too many indices|index out of bounds"
)
_SCALAR = "grad can be implicitly created only for scalar outputs"
_STACK = "stack expects each tensor to be equal size"


def _with_batch_axis(case: Case, site: Site | None) -> str:
    """`criterion(output, target[c])`: a slice of length one keeps the axis."""
    calls = case.sources.nodes(site.file, ast.Call) if site is not None else ()
    for call in calls:
        if site is None or not call.lineno <= site.line <= (call.end_lineno or call.lineno):
            continue
        for given in call.args:
            if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Name | ast.Constant):
                name, index = ast.unparse(given.value), ast.unparse(given.slice)
                after = f"{int(index) + 1}" if index.isdigit() else f"{index} + 1"
                return f"Keep the batch axis of the target: `{name}[{index}:{after}]` instead of `{name}[{index}]`."
    return "Give the target a batch axis: `target.unsqueeze(0)`."


@accuses(
    "INP-METHOD-SHAPE",
    Crashed,
    faulty={
        "targets of another form": lambda: crashed("RuntimeError: Expected target size [16, 5], got [16]"),
        "rows do not fit": (
            "TSR-SHAPE",
            lambda: crashed(
                "RuntimeError: The size of tensor a (32) must match the size of tensor b (10) at dimension 1"
            ),
        ),
        "a vector of losses": ("LOS-CALC", lambda: crashed(f"RuntimeError: {_SCALAR}")),
    },
)
def shapes_clash(case: Case, symptom: Symptom) -> Accusation | None:
    """Tensors that meet in an operation or a loss have shapes that do not fit.

    A reshape took the wrong axis, a target has another form than the loss wants, samples of a batch differ in length.
    Print both shapes before the line that raises, and correct the one that is not as meant.
    """
    text = str(symptom.detail["exception"])
    of_tensors = partial(stopped, symptom, component="tensors", code="TSR-SHAPE")
    of_loss = partial(stopped, symptom, component="loss")
    batch = _BATCH.search(text)
    if batch is not None and batch[2] == "0":
        why = "The target is a single number without a batch axis; the prediction has one."
        return of_tensors(why, _with_batch_axis(case, symptom.site))
    if batch is not None:
        why = f"The model's output has {batch[1]} rows for {batch[2]} targets: a reshape mixes axes with the batch."
        place = next((r for m in case.trace.models if (r := reshaping(case.sources, m.created))), None)
        return of_tensors(why, "Keep the batch on the first axis: `x.view(x.size(0), -1)`.", site=place)
    if _TARGET.search(text):
        why = "The targets do not have the shape or type this loss expects."
        return of_loss(why, "Pass class indices of shape (N,) or probabilities of the prediction's shape.")
    if _SCALAR in text:
        why = "The loss is a vector with one value per sample: `backward()` needs a single number."
        remedy = "Average the loss before `backward()`, with `.mean()` or `reduction='mean'`."
        made = [loss.created for loss in case.trace.losses if loss.settings.get("reduction") == "none"]
        origin = argument_origin(case.sources, next(iter(made), None), "reduction")
        place = origin.site if origin is not None else next((m for m in made if m is not None), None)
        return of_loss(why, remedy, site=place, code="LOS-CALC")
    if _STACK in text:
        why = "The samples of one batch differ in size and cannot be stacked."
        remedy = "Pad or crop all samples to one size, in the dataset or in `collate_fn`."
        loader = next((loader.created for loader in case.trace.loaders), None)
        return of_tensors(why, remedy, site=loader, code="PRE-MISS-PAD")
    if _SHAPE.search(text):
        why = "Two tensors with incompatible shapes meet."
        return of_tensors(why, "Reshape one of them so that the axes match.")
    if _INDEX.search(text) and text.startswith("IndexError"):
        why = "The tensor has no such axis or index."
        remedy = "Print the tensor's shape before this line and correct the axis."
        return of_tensors(why, remedy, code="TSR-INDEX")
    return None
