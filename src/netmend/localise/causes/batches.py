"""How the data is cut into batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.diagnose.detectors.batches import BatchCollapsed, FewUpdates, NotShuffled
from netmend.diagnose.detectors.batches import BatchTooSmall as Detector
from netmend.diagnose.measures.batches import training_loader, training_samples
from netmend.diagnose.measures.objective import left
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation, Cause, accuses, for_symptom
from netmend.localise.effects import NOT_LEARNING
from netmend.localise.lines.data_lines import batch_size_line, loader_site
from netmend.localise.outcome import learns_anyway, signs
from netmend.program.settings import argument_origin
from netmend.program.text.queries import last_name, site_of
from netmend.program.text.sources import Sources
from netmend.unit import convention
from netmend.vocabulary import Evidence, Fault, Site, Symptom


@accuses("HYP-BATCH-LARGE", FewUpdates)
def batch_too_large(case: Case, symptom: Symptom) -> Accusation:
    """Batches are so large that there are hardly any updates.

    Every update uses (nearly) all samples, so a whole pass over the data moves the weights once or a few times. Batches of 32 to 256 samples give many more updates
    for the same work.
    """
    evidence = [*signs(case, FAIR + WEAK, "D505"), *signs(case, FAIR, "D501", "D508")]
    loader = training_loader(case.trace)
    none = loader is None and bool(symptom.detail.get("whole"))
    return Accusation(
        STRONG,
        evidence=evidence,
        code="HYP-BATCH-NONE" if none else "HYP-BATCH-LARGE",
        component="training data" if loader is None else loader.name,
        site=batch_size_line(case),
        reason="The weights change once per batch, so little is learned in so few updates.",
        remedy="Use batches of 32 to 256 samples.",
        refutation="With batches of 64 the loss falls no faster per epoch.",
        related=(loader_site(case),),
        explains=("D505", "D508", "D501"),
    )


# The loss swings or climbs: what gradients of single samples do where they harm.
_NOISE_SHOWS = ("D502", "D503")


class BatchTooSmall(Cause, code="HYP-BATCH-SMALL"):
    """Batches are too small.

    Gradients of one or two samples are mostly noise, and batch normalisation cannot estimate anything from them. Without batch normalisation
    this is told only where the loss swings or climbs: many programs train on single samples on purpose, and learn. Use 16 to 128
    samples, accumulate gradients over several batches, or use GroupNorm or LayerNorm.
    """

    good_relative = convention(0.3, "a program that learns as well as that is not hindered")
    poor_relative = convention(0.5, "a loss that high at the end was hardly learned")
    least_samples = convention(50, "samples of which single ones are drawn")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D313"):
            normed = bool(symptom.detail.get("normed"))
            if not normed and not case.has(*_NOISE_SHOWS):
                continue  # many train on single samples on purpose, and well
            # One sample that is the whole set (a condition at a point) is no batch.
            alone = (
                symptom.detail.get("size") == 1 and (training_samples(case.trace) or 0) >= self.least_samples
            )
            evidence = [for_symptom(symptom, STRONG + FAIR if normed else FAIR + WEAK if alone else FAIR)]
            evidence += signs(case, FAIR, "D503", "D502", "D501", "D504", "D605")
            evidence += learns_anyway(case, self.good_relative, STRONG)
            reached = left(case.trace)
            if alone and reached is not None and reached > self.poor_relative:
                text = f"The loss ended at {reached:.2f} times that of the best constant prediction."
                evidence.append(Evidence(text, WEAK))
            loader = training_loader(case.trace)
            yield self.fault(
                symptom,
                evidence,
                component="training data" if loader is None else loader.name,
                site=batch_size_line(case),
                reason="Statistics and gradients of so few samples are mostly noise.",
                remedy="Use batches of 16 to 128 samples, or accumulate gradients over several batches; with batches this small, replace batch norm with GroupNorm.",
                refutation="The loss is no better with batches of 64.",
                related=(loader_site(case),),
                explains=("D503", "D504", "D605"),
            )

    FAULTY = Detector.FAULTY[:1]


_FLATTENING = ("chain", "from_iterable", "extend")


@accuses("HYP-BATCH-IMPL", BatchCollapsed)
def batch_collapsed(case: Case, symptom: Symptom) -> Accusation:
    """The collate function keeps only one of its samples.

    The rest of each batch is thrown away without a word: the model sees a small part of the data, in batches of one.
    Keep one entry per sample until the batch is stacked, and check the first axis of what comes out.
    """
    return Accusation(
        PROVEN + WEAK,
        site=flattening_line(case.sources, symptom.site) or symptom.site,
        reason="All samples but one are dropped before the model sees them.",
        remedy="Collect one entry per sample and stack them at the end.",
        refutation="The samples are summed on purpose.",
        related=[symptom.site, symptom.detail.get("loader")],
        explains=(*NOT_LEARNING, "D307", "D503"),
    )


def flattening_line(sources: Sources, site: Site | None) -> Site | None:
    """In the function at a line: where the lists of several samples become one list."""
    function = None if site is None else sources.function_around(site)
    for node in ast.walk(function) if function is not None and site is not None else ():
        nested = isinstance(node, ast.ListComp) and len(node.generators) > 1
        if nested or (isinstance(node, ast.Call) and last_name(node.func) in _FLATTENING):
            return site_of(site.file, node)  # type: ignore[union-attr,arg-type]
    return None


class DataNotShuffled(Cause, code="API-SHUFFLE-POS"):
    """The training data is not shuffled, and comes sorted.

    Each batch holds one kind of samples and pulls the network towards them; the next batch undoes it. Shuffle the training
    data anew in every epoch: `DataLoader(..., shuffle=True)`.
    """

    good_relative = convention(0.1, "a program that learns as well as that does not suffer from the order")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D308"):
            # Targets that differ from batch to batch may belong to a series in its order: that must hurt to be a fault.
            drifting = symptom.detail.get("by") == "drift"
            evidence = [for_symptom(symptom, FAIR + WEAK / 2 if drifting else STRONG + FAIR)]
            evidence += signs(case, FAIR, "D503", "D501", "D502", "D511", "D504")[:1]
            evidence += learns_anyway(case, self.good_relative, FAIR)
            loader = training_loader(case.trace)
            origin = argument_origin(case.sources, None if loader is None else loader.created, "shuffle", 2)
            site = loader_site(case) if origin is None else origin.site
            call = "Draw the batches from a new `torch.randperm(len(x))` in every epoch."
            if loader is not None:
                call = "Give the loader `shuffle=True`."
            yield self.fault(
                symptom,
                evidence,
                component=symptom.component or "training data",
                site=site,
                reason="Every batch pulls the network towards its own class, and the next one undoes it.",
                remedy=call,
                refutation="The order is intended (a stream in time order, say), and a shuffled run learns no better.",
                related=(symptom.site, loader_site(case)),
                explains=("D503", "D501", "D502", "D511", "D504", "D510"),
            )

    FAULTY = NotShuffled.FAULTY[:1]
