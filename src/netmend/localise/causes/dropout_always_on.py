"""LYR-DROPOUT-MODE."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.evaluation_passes import EvaluationNotDeterministic
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.program.text.queries import last_name
from netmend.unit import Run
from netmend.vocabulary import Fault, Symptom


@register
class DropoutAlwaysOn:
    """Dropout does not follow the model's mode: it stays on in evaluation.

    `F.dropout(x)` drops unless it is told otherwise, `F.scaled_dot_product_attention` whenever it is given a rate, and a `nn.Dropout` made inside
    forward() starts in train mode each time; `model.eval()` reaches none of them.
    Pass `training=self.training`, or create the layer once in `__init__`.
    """

    code: ClassVar[str] = "LYR-DROPOUT-MODE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D603"):
            if _on_purpose(case, symptom):
                continue
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Every evaluation and every use of the trained model runs with random parts switched off.",
                remedy="Pass `dropout_p=0.0` to the attention function unless `self.training` is true."
                if "attention" in symptom.component
                else "Pass `training=self.training` to the dropout function, or use an `nn.Dropout` created in `__init__`.",
                refutation="Dropout is kept on purpose, to measure uncertainty.",
                explains=("D205", "D506", "D509"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = EvaluationNotDeterministic.FAULTY


def _on_purpose(case: Case, symptom: Symptom) -> bool:
    """Whether the call says `training=True` itself."""
    if symptom.site is None:
        return False
    for call in case.sources.calls_named(symptom.site.file, "dropout", "dropout1d", "dropout2d", "dropout3d"):
        if call.lineno <= symptom.site.line <= (call.end_lineno or call.lineno):
            given = case.sources.argument(call, "training", 2)
            if last_name(call.func) and isinstance(given, ast.Constant) and given.value is True:
                return True
    return False
