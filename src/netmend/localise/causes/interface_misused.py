"""API-USAGE, GPU-XFER-MISSING, TRN-MODEL-BIG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.causes.state_carried import _twice
from netmend.localise.effects import ANY
from netmend.localise.lines.blocks import retains_graph
from netmend.localise.lines.values import changing_in_place
from netmend.unit import Run
from netmend.vocabulary import Fault, RunFact, Site, Symptom, Trace

# What the message says, why it is wrong, what to do.
_KNOWN = (
    (
        r"leaf Variable that requires grad is being used in an in-place",
        "A parameter is changed in place while autograd is recording.",
        "Change parameters inside `with torch.no_grad():`.",
    ),
    (
        r"before Module\.__init__\(\) call",
        "A module is used before its base class is initialised.",
        "Call `super().__init__()` first in `__init__`.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "A numpy array cannot hold a tensor that is part of a graph.",
        "Use `.detach().numpy()` for values that you only inspect.",
    ),
    (
        r"Boolean value of Tensor with more than one value",
        "A tensor with many values was used as a condition.",
        "Reduce it with `.any()` or `.all()`, or compare numbers.",
    ),
    (
        r"elements? tensors? can be converted to (?:Python )?scalars?|a Tensor with \d+ elements cannot be converted",
        "A tensor with many values was used as a number.",
        "Reduce it first, for example with `.mean()`.",
    ),
    (
        r"(?:forward|_call_impl)\(\) (?:missing|takes|got)",
        "The model is called with arguments that `forward` does not take.",
        "Make the call match the arguments of `forward`.",
    ),
    (
        r"_forward_unimplemented|missing the required \"forward\" function",
        "The module has no `forward`.",
        "Define `forward` in the class, spelled exactly like this.",
    ),
)


def _crashed(text: str) -> Trace:
    run = RunFact("example", "train.py", status="failed", exception=text, exception_site=Site("train.py", 20))
    return Trace(facts={"run": {"example": run}})


@register
class InterfaceMisused:
    """PyTorch is used in a way that it refuses: in-place changes, a second backward, tensors on different devices.

    The message names the rule that was broken; the line that broke it may be an earlier one.
    Follow the remedy for the rule in question.
    """

    code: ClassVar[str] = "API-USAGE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            found = self._judge(case, symptom, str(symptom.detail["exception"]))
            if found is None:
                continue
            code, place, why, remedy = found
            yield fault(
                code,
                [for_symptom(symptom, PROVEN if code != "TRN-MODEL-BIG" else STRONG)],
                component="program",
                site=place or symptom.site,
                summary=symptom.message,
                reason=why,
                remedy=remedy,
                refutation=""
                if code != "TRN-MODEL-BIG"
                else "Another program or an earlier step has used up the memory.",
                related=[symptom.site],
                explains=ANY,
            )

    def _judge(self, case: Case, symptom: Symptom, text: str) -> tuple[str, Site | None, str, str] | None:
        if re.search(
            r"to be on the same device|cuda\.\w*Tensor\) (?:and|should)|should be the same.*cuda", text
        ):
            why = "Data and model are on different devices."
            return (
                "GPU-XFER-MISSING",
                None,
                why,
                "Move both with `.to(device)`; for tensors, assign the result.",
            )
        if re.search(r"out of memory|can't allocate memory", text):
            why = "The model and its batch do not fit into memory."
            return "TRN-MODEL-BIG", None, why, "Use a smaller batch, a smaller model or mixed precision."
        if "No inf checks were recorded" in text:
            why = "`scaler.update()` was called without a `scaler.step()`."
            return "LOOP-AMP", None, why, "Call `scaler.step(optimizer)` before `scaler.update()`."
        if "modified by an inplace operation" in text and not retains_graph(case.sources, symptom.site):
            why = "A value that the backward pass needs was overwritten after it was used."
            files = [m.created for m in case.trace.models] + [m.called for m in case.trace.models]
            place = next((p for site in files if (p := changing_in_place(case.sources, site))), None)
            return (
                self.code,
                place,
                why,
                "Write `x = x + …` instead of `x += …`, and remove `inplace=True` there.",
            )
        if "backward through the graph a second time" in text and _twice(case, symptom.site):
            why = "`backward()` is called twice for one loss; the first call already freed the graph."
            return self.code, None, why, "Call `backward()` once per step, on the sum of all losses."
        for pattern, why, remedy in _KNOWN:
            if re.search(pattern, text):
                return self.code, None, why, remedy
        return None

    FAULTY: ClassVar[tuple[Run, ...]] = tuple(
        Run(
            title,
            partial(_crashed, text),
            code,
        )
        for title, text, code in (
            ("numpy", "RuntimeError: Can't call numpy() on Tensor that requires grad.", "API-USAGE"),
            (
                "two devices",
                "RuntimeError: Expected all tensors to be on the same device, but …",
                "GPU-XFER-MISSING",
            ),
            ("too big", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …", "TRN-MODEL-BIG"),
        )
    )
