"""Activations between the layers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from netmend.diagnose.detectors.hidden_activations import on_purpose
from netmend.diagnose.examples.curves import falling, flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import SIGMOIDS, Link, in_sequence, linear_pairs, links_of, mostly
from netmend.diagnose.measures.heads import minimised
from netmend.library.losses import LIKELIHOODS
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import codes
from netmend.localise.lines.head_lines import hidden_exponentials
from netmend.localise.outcome import harm, level, relief, rivals
from netmend.program.direct_connection import fed_by, handed_on
from netmend.unit import convention
from netmend.vocabulary import Evidence, Fault, ModuleFact, Site, Symptom


class HiddenActivationMissing(Cause, code="ACT-HID-MISSING"):
    """There is no nonlinearity between layers.

    Linear layers in a row are one linear layer, however many there are. Put an activation (ReLU is the usual one) after every hidden layer, and
    call it in forward.
    """

    affine_weight = convention(3.0, "a network of several layers that is linear as a whole is rarely meant")
    certain_weight = convention(2.2, "two layers that surely follow one another")
    certain_layers = convention(3, "products with weights that nobody writes to limit a rank")

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
        layers = links_of(case.trace, first.model, "linear")
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
            layers = links_of(case.trace, symptom.component, "linear")
            if len(layers) > 1 and not on_purpose(layers[0], layers[1]):
                text = f"By experiment, {symptom.message}"
                return [(layers[0], layers[1], Evidence(text, STRONG, symptom.code, symptom.first_step))]
        return []

    def _by_hand(self, case: Case) -> Iterator[Fault]:
        """A classifier whose layers are parameters and functions, found to be linear by experiment."""
        classifies = any(loss.criterion in LIKELIHOODS for loss in minimised(case.trace))
        for symptom in case.of("D604") if classifies else ():
            line = symptom.detail.get("weighted_line")
            several = int(symptom.detail["weight_layers"]) >= self.certain_layers
            links = links_of(case.trace, symptom.component, "linear")
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
        if not handed_on(case.sources, first.module, second.module):
            return None
        text = f"Layer {second.name} follows {first.name} with no nonlinearity in between."
        return Evidence(text, self.certain_weight)

    FAULTY = {
        "no activation at all": lambda: net_run(
            "Linear(10,64) Linear(64,64) Linear(64,4)", losses=[*falling(100, end=0.7), *flat(100, 0.7)]
        )
    }


def _where_it_belongs(case: Case, first: Link, second: Link) -> Site | None:
    """In a stack, the line of the first layer; in a forward method, the line that calls it, for there the activation is put."""
    if first.module is None or second.module is None or in_sequence(case.trace, first.module, second.module):
        return first.site
    called = first.module.called
    return called if called is not None and called.function.endswith("forward") else first.site


_DEEP = "Linear(10,32) Sigmoid " + "Linear(32,32) Sigmoid " * 5 + "Linear(32,4)"
_EXPLAINS = codes("D102 D104 D130 D105 D106 D109 D114 D119 D126 D128 D501 D504 D505 D508 D511 D606")
_GROWN = ("D101", "D103", "D107", "D110", "D115", "D412", "D502")  # numbers that no longer fit together
_FELT = ("D104", "D109", "D511", "D606")  # behind it: units died, or the answer is the same for all
_SLOW = ("D505", "D508")
_RIVALS = {
    "D302": "The inputs are badly scaled.",
    "D111": "The weights start symmetric.",
    "D112": "The initial weights have the wrong scale.",
}


class HiddenActivationWrong(Cause, code="ACT-HID-WRONG"):
    """A hidden layer uses an activation function that lets hardly any signal or gradient through.

    Sigmoids pass on at most a quarter of the gradient, so that a stack of them cannot learn; a softmax makes hidden units compete for a sum of one.
    Use ReLU (or GELU, tanh in shallow networks) in hidden layers.
    """

    softmax_weight = convention(2.6, "a softmax between layers is seldom meant, and never in a plain stack")
    squeezed_weight = convention(
        0.9, "networks learn in spite of a sigmoid: alone, and with a poor end alone, it is not told"
    )
    slow_weight = convention(
        0.3, "slow learning is what a sigmoid does to a network, but few epochs look the same"
    )
    well_learned = convention(
        0.05, "of the constant prediction's loss: what a softmax in a plain stack costs is more than that"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        against = rivals(case, _RIVALS)
        for symptom in case.of("D119")[:1]:
            certain = self._certain(case, symptom)
            evidence = [for_symptom(symptom, self.softmax_weight if certain else WEAK), *harm(case)]
            reached = level(case)
            if not certain or reached is None or reached < self.well_learned:
                evidence += relief(case, 2 * STRONG)
            yield self._fault(case, symptom, evidence, "softmax", symptom.component)
        yield from self._squeezed(case, against)
        yield from self._exponential(case)
        squashing = mostly(case.trace, SIGMOIDS)
        for symptom in (case.of("D106") or case.of("D126"))[:1]:
            if squashing is not None:
                evidence = [
                    for_symptom(symptom, STRONG + WEAK),
                    *(for_symptom(s, WEAK) for s in case.of("D126")[:1] if s is not symptom),
                    *harm(case),
                    *against,
                    *relief(case, 2 * STRONG),
                ]
                yield self._fault(case, symptom, evidence, squashing.function, squashing.name, squashing)
        for symptom in case.of("D105")[:1]:
            evidence = [for_symptom(symptom, FAIR), *harm(case), *against, *relief(case, 2 * STRONG)]
            evidence += (
                [Evidence("Units were not saturated at the start.", -WEAK)]
                if symptom.detail.get("first", 1.0) < 0.5
                else []
            )
            yield self._fault(case, symptom, evidence, str(symptom.detail.get("function")), symptom.component)

    def _squeezed(self, case: Case, against: list[Evidence]) -> Iterator[Fault]:
        """One fault for all sigmoids: at the one that stands out among other activations, or else at the worst."""
        found = sorted(
            case.of("D128"),
            key=lambda s: (s.detail.get("odd"), s.detail.get("map"), s.observed),
            reverse=True,
        )
        for symptom in found[:1]:
            evidence = [for_symptom(symptom, self.squeezed_weight)]
            if symptom.detail.get("odd"):
                others = " and ".join(symptom.detail.get("others", ()))
                evidence.append(Evidence(f"The other hidden layers use {others}.", FAIR))
            if symptom.detail.get("map"):
                evidence.append(Evidence("It squashes whole feature maps.", WEAK))
            felt = [for_symptom(s, WEAK) for s in case.of(*_FELT)[:1]]
            hurt, eased = harm(case), relief(case, 2 * STRONG)
            if hurt:
                felt += [for_symptom(s, self.slow_weight) for s in case.of(*_SLOW)[:1]]
            if not felt and not hurt and not eased:
                evidence.append(Evidence("There is no sign in the run that it hurts.", -FAIR))
            yield self._fault(
                case,
                symptom,
                [*evidence, *felt, *hurt, *eased, *against],
                str(symptom.detail.get("function")),
                symptom.component,
            )

    def _exponential(self, case: Case) -> Iterator[Fault]:
        """An exponential between layers: small differences become orders of magnitude, from layer to layer."""
        for site, link in islice(hidden_exponentials(case), 1):
            made = f"The output of {link.name} goes through exp before the next layer."
            grown = [for_symptom(s, STRONG) for s in case.of(*_GROWN)[:1]]
            born = [
                Evidence("It produced the first invalid number.", STRONG, s.code, s.first_step)
                for s in case.of("D110")
                if s.detail.get("operation") == "exp" and s.component != "loss"
            ]
            yield fault(
                self.code,
                [Evidence(made, FAIR), *grown, *born[:1], *harm(case), *relief(case, 2 * STRONG)],
                component=link.name,
                site=site,
                summary=made,
                reason="An exponential lets a few units drown out all others, and values and gradients blow up.",
                remedy=f"Use `F.relu` instead of exp in {site.short}.",
                refutation="Training is no better with ReLU instead.",
                related=(link.site,),
                explains=(*_EXPLAINS, *_GROWN),
            )

    def _certain(self, case: Case, symptom: Symptom) -> bool:
        """Whether it surely squeezes a plain hidden layer, and not a mixture or a code that is made of several layers."""
        before = case.trace.get(ModuleFact, str(symptom.detail.get("before")))
        if symptom.detail.get("certain") or before is None or symptom.site is None:
            return bool(symptom.detail.get("certain"))
        return fed_by(case.sources, symptom.site, before)

    def _fault(
        self,
        case: Case,
        symptom: Symptom,
        evidence: list[Evidence],
        function: str,
        component: str,
        link: Link | None = None,
    ) -> Fault:
        module = case.trace.get(ModuleFact, component)
        site = symptom.site if link is None else link.site
        where = "" if site is None else f" in {site.short}"
        return self.fault(
            symptom,
            evidence,
            component=component,
            site=site,
            reason=f"A hidden {function} passes on only a small part of the gradient, so the layers before it hardly learn.",
            remedy=f"Use `nn.ReLU()` (or `F.relu`) instead of {function} in the hidden layers{where}.",
            refutation="Training is no better with ReLU instead.",
            related=(module.called if module is not None else None, symptom.site),
            explains=_EXPLAINS,
        )

    FAULTY = {
        "a deep stack of sigmoids": lambda: net_run(
            _DEEP, losses=flat(200), gradients={2 * n: 1e-6 * 4.0**n for n in range(7)}
        ),
        "softmax in the middle": lambda: net_run(
            "Linear(10,64) Softmax Linear(64,64) ReLU Linear(64,4)",
            losses=[*falling(100, end=0.8), *flat(100, 0.8)],
        ),
    }
