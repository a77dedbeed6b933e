"""DAT-IMBALANCE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detectors.constant_answers import ClassCollapse
from netmend.diagnose.detectors.labels import ClassImbalance
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.data_origin import loader_site, target_origin
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Symptom, Trace

# Signal or gradient is lost on the way, numbers are invalid, or output and loss do not fit: then no class can be learned.
_BROKEN = (
    "D104",
    "D130",
    "D109",
    "D110",
    "D111",
    "D112",
    "D117",
    "D119",
    "D128",
    "D403",
    "D404",
    "D411",
    "D502",
    "D602",
)


@register
class ClassesUnbalanced:
    """The classes are unbalanced, and the rare ones are never predicted.

    Always giving the frequent class is right most of the time, so the loss gives little reason to tell the classes apart.
    Weight the classes in the loss, sample them evenly, and look at the recall of each class instead of the accuracy.
    """

    code: ClassVar[str] = "DAT-IMBALANCE"

    recall_limit: float = threshold(
        0.1, "convention", "recall of a class below which it counts as never predicted"
    )

    frequent_limit: float = threshold(
        0.6,
        "convention",
        "share of the most frequent class up to which giving it alone is wrong so often that other classes are worth learning",
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D307"):
            evidence = [for_symptom(symptom, FAIR)]
            recall = _worst_recall(case.trace)
            if (collapse := case.first("D511")) is not None:
                evidence.append(for_symptom(collapse, STRONG + FAIR))
            elif recall is not None and recall < self.recall_limit:
                evidence.append(
                    Evidence(f"Only {recall:.0%} of the samples of one class are recognised.", STRONG)
                )
            else:
                continue
            if _handled(case.trace):
                evidence.append(
                    Evidence("The loss has class weights, or a sampler balances the classes.", -2 * STRONG)
                )
            evidence += self._against(case, symptom, collapse is not None)
            loss = next((loss for loss in case.trace.losses if loss.backward is not None), None)
            yield fault(
                self.code,
                evidence,
                component="training data",
                site=(loss.created or loss.called) if loss is not None else loader_site(case),
                summary=symptom.message + (f" {collapse.message}" if collapse is not None else ""),
                reason="Always predicting the frequent class is right most of the time, so there is little pressure to learn the others.",
                remedy="Weight the classes in the loss (`weight=` or `pos_weight=`), or balance them with a WeightedRandomSampler, and watch the recall of each class.",
                refutation="The rare class is never predicted with class weights either.",
                related=(loader_site(case), target_origin(case)),
                explains=("D511", "D510", "D501"),
            )

    def _against(self, case: Case, symptom: Symptom, collapsed: bool) -> Iterator[Evidence]:
        """Imbalance hides rare classes from a network that works; it neither breaks one nor hides frequent classes."""
        broken = next((s for s in case.symptoms if s.code in _BROKEN), None)
        if broken is not None:
            text = f"Something else is broken that the class balance does not explain: {broken.message}"
            yield Evidence(text, -STRONG - FAIR, broken.code)
        if collapsed and float(symptom.detail.get("majority", 1.0)) < self.frequent_limit:
            yield Evidence("Classes that are not rare are never predicted either.", -STRONG)

    FAULTY: ClassVar[tuple[Run, ...]]


def _worst_recall(trace: Trace) -> float | None:
    values = [
        float(known[-1])
        for kind in ("evaluation", "progress")
        for table in trace.tables_of(kind)
        if len(known := table.known("worst_recall")[1])
    ]
    return values[0] if values else None


def _handled(trace: Trace) -> bool:
    sampled = any("Weighted" in loader.sampler for loader in trace.loaders)
    weighted = any(operand.role == "weight" for loss in trace.losses for operand in loss.operands) or any(
        loss.settings.get(name) not in (None, False)
        for loss in trace.losses
        for name in ("weight", "pos_weight")
    )
    return sampled or weighted


def _example() -> Trace:
    collapse, counts = ClassCollapse.FAULTY[0].trace, ClassImbalance.FAULTY[0].trace
    assert np.isfinite(next(iter(collapse.tables.values())).column("loss")).all()
    return Trace(tables=collapse.tables, batches=counts.batches)


ClassesUnbalanced.FAULTY = (Run("97 to 3, one class predicted", lambda: _example()),)
