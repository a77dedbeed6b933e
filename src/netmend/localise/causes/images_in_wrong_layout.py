"""INP-LAYER-SHAPE."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.data_values import InputLayoutSuspect
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.data_origin import input_origin
from netmend.program.text.queries import last_name, site_of
from netmend.unit import Run
from netmend.vocabulary import Fault, Site


@register
class ImagesInWrongLayout:
    """Images reach a convolution in the wrong layout.

    reshape() and view() keep the order of the numbers and only count them differently; they do not move axes. Pictures of height × width × channels must be
    permuted: `x.permute(0, 3, 1, 2)`.
    """

    code: ClassVar[str] = "INP-LAYER-SHAPE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D303"):
            site = _reshape_line(case) or input_origin(case)
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + WEAK)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="Convolutions compare neighbouring pixels; here adjacent numbers do not belong to neighbouring pixels.",
                remedy="Move the axes instead of reshaping: `x.permute(0, 3, 1, 2)` in place of `reshape` or `view`.",
                refutation="A few images drawn as the network sees them look right.",
                related=(symptom.site, input_origin(case)),
                explains=("D504", "D501", "D508", "D506"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = InputLayoutSuspect.FAULTY


def _reshape_line(case: Case) -> Site | None:
    """The only kind of call that makes four axes without moving any."""
    model = next(iter(case.trace.models), None)
    near = "" if model is None or model.called is None else model.called.file
    for file in case.sources.files(near=near):
        for call in case.sources.calls_named(file, "reshape", "view"):
            sizes = (
                call.args[0].elts
                if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple)
                else call.args
            )
            if len(sizes) == 4 and not last_name(call.func).startswith("_"):
                return site_of(file, call)
    return None
