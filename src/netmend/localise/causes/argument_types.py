"""INP-TYPE, INP-TENSOR-TYPE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.crash import failing_layer, layer_before
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.unit import Run
from netmend.vocabulary import Fault, ModelFact, RunFact, Site, Trace

_TYPES = re.compile(
    r"expected scalar type|must have the same dtype|to have the same dtype|same data type|"
    r"type \(.*\) should be the same|expected target dtype|not implemented for '|scalar types:? |"
    r"can't be cast to the desired|Found dtype|could not infer output dtype|Expected floating point type|"
    r"must be Tensor, not|Expected object of scalar type|numpy\.object_|must be torch\.|only Tensors of floating point"
)
_DEVICE = re.compile(r"cuda\.|same device")
_LOSS = re.compile(r"target|nll_loss|cross_entropy|mse|Found dtype|bce", re.I)


@register
class ArgumentTypes:
    """A layer, a loss or an operation gets numbers of the wrong type.

    Layers want float32, class labels must be whole numbers (long), embeddings take indices.
    Convert once, where the data is made.
    """

    code: ClassVar[str] = "INP-TYPE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D701"):
            text = str(symptom.detail["exception"])
            if not _TYPES.search(text) or _DEVICE.search(text):
                continue
            layer = failing_layer(case.trace)
            model = case.trace.get(ModelFact, layer.model) if layer is not None else None
            first = layer is not None and layer_before(case.trace, layer) is None
            loss = bool(_LOSS.search(text)) and layer is None
            place = model.called if first and model is not None else None
            yield fault(
                self.code if layer is not None or loss else "INP-TENSOR-TYPE",
                [for_symptom(symptom, PROVEN + 0.5)],
                component=layer.name if layer is not None else ("loss" if loss else "operation"),
                site=place or symptom.site,
                summary=symptom.message,
                reason="This operation does not work with the tensor's data type.",
                remedy="Convert the labels with `.long()` for class losses and with `.float()` for all others."
                if loss
                else "Convert the data to `torch.float32` where it is made, or with `.float()` before the model.",
                refutation="",
                related=[symptom.site, *(loader.created for loader in case.trace.loaders[:1])],
                explains=ANY,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "labels as floats",
            lambda: Trace(
                facts={
                    "run": {
                        "example": RunFact(
                            "example",
                            "train.py",
                            status="failed",
                            exception="RuntimeError: expected target dtype to be Long or Byte, but got Float",
                            exception_site=Site("train.py", 20),
                        )
                    }
                }
            ),
        ),
    )
