"""LYR-SOFTMAX-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, head_of, last_layer, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class LogProbabilitiesMissing:
    """A loss that expects log-probabilities gets raw scores.

    NLLLoss only picks the value of the true class and turns its sign: with raw scores it falls without end as scores grow, and
    classes do not compete with each other.
    Use CrossEntropyLoss on the scores, or apply log_softmax before the loss.
    """

    code: ClassVar[str] = "LYR-SOFTMAX-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D403"):
            if symptom.detail["given"] != "scores" or symptom.detail["criterion"] not in (
                "nll_loss",
                "kl_div",
            ):
                continue
            head = head_of(case, symptom)
            if head is None:
                continue
            loss, layer = head.loss, last_layer(case, head)
            site = loss.created or loss.called
            remedy = (
                f"Use cross entropy instead of {text_at(case, site)}, or apply `log_softmax` over the classes before it."
                if loss.criterion == "nll_loss"
                else f"Apply `log_softmax` to the first argument of {text_at(case, loss.called)}."
            )
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="Without normalisation the loss keeps falling as the scores grow, and the classes do not compete.",
                remedy=remedy,
                refutation="The outputs are log-densities, which may be above 0.",
                related=[loss.called, *((layer.created, layer.called) if layer is not None else ())],
                explains=(*STUCK, "D101", "D103", "D107", "D110", "D115", "D409", "D502"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("raw scores into the likelihood loss", lambda: run_of("nll_loss", given(16, 4), wanted(16))),
        Run(
            "raw scores into the divergence",
            lambda: run_of("kl_div", given(16, 4), wanted(16, 4, high=1, whole=False, axes=[1])),
        ),
    )
