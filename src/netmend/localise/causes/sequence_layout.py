"""INP-FORMAT-RNN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.probe_examples import recurrent
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.follow import argument_origin
from netmend.localise.lines.layer_lines import creation_of
from netmend.unit import Run
from netmend.vocabulary import Fault, Site


@register
class SequenceLayout:
    """A recurrent or attention layer takes the samples of the batch for the steps of a sequence.

    Such layers expect time on the first axis unless they are created with `batch_first=True`. Given batches first, they run along the batch:
    each sample is read as the successor of the one before it, and its own steps never meet.
    Create the layer with `batch_first=True`, or transpose its input.
    """

    code: ClassVar[str] = "INP-FORMAT-RNN"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D601"):
            if symptom.detail.get("batch_first") is not False:
                continue
            name, kind = str(symptom.detail["module"]), str(symptom.detail["kind"])
            created = _pattern(case, creation_of(case.trace, name))
            shape = ", ".join(map(str, symptom.detail.get("module_input", ())))
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=name,
                site=created or symptom.site,
                summary=f"{symptom.message[:-1]}; the samples meet in {name}, a {kind} without `batch_first=True`, whose input is [{shape}].",
                reason="The layer reads the first axis as time, so it runs from sample to sample instead of from step to step.",
                remedy=f"Create {name} with `batch_first=True`"
                + (f" in {created.short}." if created is not None else "."),
                refutation="The first axis of the input really is time.",
                related=(symptom.site,),
                explains=(*ANY, "D310", "D311", "D602"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (Run("recurrent layer over samples", lambda: recurrent()),)


def _pattern(case: Case, created: Site | None) -> Site | None:
    """`nn.TransformerEncoder(layer, 6)` copies a layer that is created elsewhere, with its order of axes."""
    for name in ("encoder_layer", "decoder_layer"):
        origin = argument_origin(case.sources, created, name, 0)
        if origin is not None and "Layer" in origin.text:
            return origin.site
    return created
