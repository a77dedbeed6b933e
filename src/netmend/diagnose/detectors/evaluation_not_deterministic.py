"""D603 EvaluationNotDeterministic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import dropped, probed
from netmend.unit import Run, threshold
from netmend.vocabulary import FunctionFact, Symptom, Trace


@register
class EvaluationNotDeterministic:
    """In eval mode, dropout still drops: two passes over the same batch differ.

    Evaluation and every later use of the model then work with a random part of it missing.
    Usual causes: `F.dropout(x)` without `training=self.training`, a new `nn.Dropout` made inside forward(). Models that draw
    samples on purpose (variational autoencoders) are not meant.
    """

    code: ClassVar[str] = "D603"

    difference_limit: float = threshold(
        1e-4,
        "exact",
        "of the output's size: kernels that add in another order reach 1e-5 in single precision",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        places = {
            (fact.site.file, fact.site.line): fact.name
            for fact in trace.all(FunctionFact)
            if fact.kind == "dropout" and fact.site is not None
        }
        for probe in trace.probes("eval determinism"):
            difference, site = float(probe.values["difference"]), probe.site
            kind = str(probe.values.get("kind", ""))
            name = places.get((site.file, site.line), "") if site is not None else ""
            if "Dropout" in kind:  # a layer that the model's eval() does not reach
                name = kind
            if not name or not difference > self.difference_limit:
                continue
            yield Symptom(
                self.code,
                f"In eval mode {probe.component} gives different outputs for the same batch each time, by {difference:.0%} "
                "of its output: dropout is still on.",
                component=name,
                first_step=probe.step,
                observed=difference,
                limit=self.difference_limit,
                site=site,
                detail={"model": probe.component},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the same twice", lambda: dropped(0.0, "")),
        Run(
            "a latent value is drawn on purpose",
            lambda: Trace(facts={"probe": dropped(0.3, "randn_like").facts["probe"]}),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("functional dropout", lambda: dropped()),
        Run(
            "a new layer at every pass",
            lambda: probed(
                "eval determinism", {"difference": 0.4, "operation": "bernoulli", "kind": "Dropout"}
            ),
        ),
    )
