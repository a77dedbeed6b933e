"""INP-METHOD-SHAPE, TSR-SHAPE, TSR-INDEX, LOS-CALC, PRE-MISS-PAD."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.follow import argument_origin
from netmend.localise.lines.values import reshaping
from netmend.unit import Run
from netmend.vocabulary import Fault, RunFact, Site, Symptom, Trace

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


def _crash(exception: str) -> Trace:
    run = RunFact(
        "example", "train.py", status="failed", exception=exception, exception_site=Site("train.py", 20)
    )
    return Trace(facts={"run": {"example": run}})


def _with_batch_axis(case: Case, site: Site | None) -> str:
    """`criterion(output, target[c])`: a slice of length one keeps the axis."""
    found = (
        []
        if site is None
        else [
            node
            for node in case.sources.nodes(site.file)
            if isinstance(node, ast.Call) and node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ]
    )
    for call in found:
        for given in call.args:
            if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Name | ast.Constant):
                name, index = ast.unparse(given.value), ast.unparse(given.slice)
                after = f"{int(index) + 1}" if index.isdigit() else f"{index} + 1"
                return f"Keep the batch axis of the target: `{name}[{index}:{after}]` instead of `{name}[{index}]`."
    return "Give the target a batch axis: `target.unsqueeze(0)`."


@register
class ShapesClash:
    """Tensors that meet in an operation or a loss have shapes that do not fit.

    A reshape took the wrong axis, a target has another form than the loss wants, samples of a batch differ in length.
    Print both shapes before the line that raises, and correct the one that is not as meant.
    """

    code: ClassVar[str] = "INP-METHOD-SHAPE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            found = self._judge(case, symptom, str(symptom.detail["exception"]))
            if found is None:
                continue
            code, place, why, remedy = found
            yield fault(
                code,
                [for_symptom(symptom, PROVEN)],
                component="loss" if code in ("INP-METHOD-SHAPE", "LOS-CALC") else "tensors",
                site=place or symptom.site,
                summary=symptom.message,
                reason=why,
                remedy=remedy,
                refutation="",
                related=[symptom.site],
                explains=ANY,
            )

    def _judge(self, case: Case, symptom: Symptom, text: str) -> tuple[str, Site | None, str, str] | None:
        batch = _BATCH.search(text)
        if batch is not None and batch[2] == "0":
            why = "The target is a single number without a batch axis; the prediction has one."
            return "TSR-SHAPE", None, why, _with_batch_axis(case, symptom.site)
        if batch is not None:
            why = f"The model's output has {batch[1]} rows for {batch[2]} targets: a reshape mixes axes with the batch."
            place = next((r for m in case.trace.models if (r := reshaping(case.sources, m.created))), None)
            return "TSR-SHAPE", place, why, "Keep the batch on the first axis: `x.view(x.size(0), -1)`."
        if _TARGET.search(text):
            why = "The targets do not have the shape or type this loss expects."
            return (
                self.code,
                None,
                why,
                "Pass class indices of shape (N,) or probabilities of the prediction's shape.",
            )
        if _SCALAR in text:
            why = "The loss is a vector with one value per sample: `backward()` needs a single number."
            made = [loss.created for loss in case.trace.losses if loss.settings.get("reduction") == "none"]
            origin = argument_origin(case.sources, next(iter(made), None), "reduction")
            place = origin.site if origin is not None else next((m for m in made if m is not None), None)
            return (
                "LOS-CALC",
                place,
                why,
                "Average the loss before `backward()`, with `.mean()` or `reduction='mean'`.",
            )
        if _STACK in text:
            why = "The samples of one batch differ in size and cannot be stacked."
            loader = next((loader.created for loader in case.trace.loaders), None)
            return (
                "PRE-MISS-PAD",
                loader,
                why,
                "Pad or crop all samples to one size, in the dataset or in `collate_fn`.",
            )
        if _SHAPE.search(text):
            why = "Two tensors with incompatible shapes meet."
            return "TSR-SHAPE", None, why, "Reshape one of them so that the axes match."
        if _INDEX.search(text) and text.startswith("IndexError"):
            why = "The tensor has no such axis or index."
            return "TSR-INDEX", None, why, "Print the tensor's shape before this line and correct the axis."
        return None

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "targets of another form",
            lambda: _crash("RuntimeError: Expected target size [16, 5], got [16]"),
        ),
        Run(
            "rows do not fit",
            lambda: _crash(
                "RuntimeError: The size of tensor a (32) must match the size of tensor b (10) at dimension 1"
            ),
            "TSR-SHAPE",
        ),
        Run("a vector of losses", lambda: _crash(f"RuntimeError: {_SCALAR}"), "LOS-CALC"),
    )
