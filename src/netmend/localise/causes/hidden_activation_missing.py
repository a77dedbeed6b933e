"""ACT-HID-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.hidden_activations import on_purpose
from netmend.diagnose.measures.chain import Link, chain, in_sequence, linear_pairs
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.direct_connection import handed_on
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site

_CLASSIFYING = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")


@register
class HiddenActivationMissing:
    """There is no nonlinearity between layers.

    Linear layers in a row are one linear layer, however many there are. Put an activation (ReLU is the usual one) after every hidden layer, and
    call it in forward.
    """

    code: ClassVar[str] = "ACT-HID-MISSING"

    affine_weight: float = threshold(
        3.0, "convention", "a network of several layers that is linear as a whole is rarely meant"
    )
    certain_weight: float = threshold(2.2, "convention", "two layers that surely follow one another")
    certain_layers: int = threshold(
        3, "convention", "products with weights that nobody writes to limit a rank"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        pairs = [
            (first, second, self._reason(case, first, second, certain))
            for first, second, certain in linear_pairs(case.trace)
            if not on_purpose(first, second)
        ]
        found = [(first, second, reason) for first, second, reason in pairs if reason is not None]
        if not found:
            found = self._as_a_whole(case)
        if not found:
            yield from self._by_hand(case)
            return
        first, second, reason = found[0]
        evidence = [reason, *harm(case), *relief(case)]
        if len(found) > 1:
            evidence.append(Evidence(f"The same holds in {len(found) - 1} more places.", WEAK))
        layers = [link for link in chain(case.trace) if link.model == first.model and link.kind == "linear"]
        if 1 < len(layers) == len(found) + 1:
            evidence.append(Evidence("The model has no activation between its layers at all.", FAIR))
        where = "" if first.site is None else f" (created in {first.site.short})"
        called = [link.module.called for link in (first, second) if link.module is not None]
        yield fault(
            self.code,
            evidence,
            component=first.name,
            site=_where_it_belongs(case, first, second),
            summary=reason.message,
            reason="Linear layers in a row are no more than one linear layer: the network cannot learn anything nonlinear.",
            remedy=f"Put an activation such as `nn.ReLU()` between {first.name}{where} and {second.name}.",
            refutation="The task is linear: an activation there does not lower the loss.",
            related=(first.site, *called, second.site),
            explains=("D118", "D504", "D501", "D604", "D508"),
        )

    def _as_a_whole(self, case: Case) -> list[tuple[Link, Link, Evidence]]:
        """The model was found to be linear by experiment, though its layers cannot be told to follow one another."""
        for symptom in case.of("D604") if harm(case) else ():
            layers = [
                link
                for link in chain(case.trace)
                if link.model == symptom.component and link.kind == "linear"
            ]
            if len(layers) > 1 and not on_purpose(layers[0], layers[1]):
                text = f"By experiment, {symptom.message}"
                return [(layers[0], layers[1], Evidence(text, STRONG, symptom.code, symptom.first_step))]
        return []

    def _by_hand(self, case: Case) -> Iterator[Fault]:
        """A classifier whose layers are parameters and functions, found to be linear by experiment."""
        classifies = any(loss.criterion in _CLASSIFYING for loss in minimised(case.trace))
        for symptom in case.of("D604") if classifies else ():
            line = symptom.detail.get("weighted_line")
            several = int(symptom.detail["weight_layers"]) >= self.certain_layers
            links = [
                link
                for link in chain(case.trace)
                if link.model == symptom.component and link.kind == "linear"
            ]
            if line is None or len(links) > 1 or not (several or harm(case)):
                continue
            site = Site(str(symptom.detail["weighted_file"]), int(line))
            yield fault(
                self.code,
                [for_symptom(symptom, self.certain_weight), *harm(case), *relief(case)],
                component=symptom.component,
                site=site,
                summary=f"By experiment, {symptom.message}",
                reason="Linear layers in a row are no more than one linear layer: the network cannot learn anything nonlinear.",
                remedy=f"Apply an activation such as `torch.relu` to what each layer makes, from `{case.sources.line(site)}` on; leave the last one as it is.",
                refutation="The task is linear: an activation there does not lower the loss.",
                related=(symptom.site,),
                explains=("D118", "D504", "D501", "D604", "D508"),
            )

    def _reason(self, case: Case, first: Link, second: Link, certain: bool) -> Evidence | None:
        """Why the second layer surely gets the first one's output: the trace says so, or the source does."""
        symptom = next((s for s in case.of("D118") if s.component == first.name), None)
        if symptom is not None:
            return for_symptom(
                symptom, self.affine_weight if symptom.detail.get("affine") else self.certain_weight
            )
        if certain or first.module is None or second.module is None:
            return None
        if not handed_on(case.sources, case.trace, first.module, second.module):
            return None
        text = f"Layer {second.name} follows {first.name} with no nonlinearity in between."
        return Evidence(text, self.certain_weight)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "no activation at all",
            lambda: net_run(
                "Linear(10,64) Linear(64,64) Linear(64,4)", losses=[*falling(100, end=0.7), *flat(100, 0.7)]
            ),
        ),
    )


def _where_it_belongs(case: Case, first: Link, second: Link) -> Site | None:
    """In a stack, the line of the first layer; in a forward method, the line that calls it, for there the activation is put."""
    if first.module is None or second.module is None or in_sequence(case.trace, first.module, second.module):
        return first.site
    called = first.module.called
    return called if called is not None and called.function.endswith("forward") else first.site
