"""HYP-BATCH-IMPL."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.batches import BatchCollapsed as BatchCollapsedDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING
from netmend.program.text.queries import last_name, site_of
from netmend.program.text.sources import Sources
from netmend.unit import Run
from netmend.vocabulary import Fault, Site

_FLATTENING = ("chain", "from_iterable", "extend")


@register
class BatchCollapsed:
    """The collate function keeps only one of its samples.

    The rest of each batch is thrown away without a word: the model sees a small part of the data, in batches of one.
    Keep one entry per sample until the batch is stacked, and check the first axis of what comes out.
    """

    code: ClassVar[str] = "HYP-BATCH-IMPL"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D318"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + WEAK)],
                component=symptom.component,
                site=flattening_line(case.sources, symptom.site) or symptom.site,
                summary=symptom.message,
                reason="All samples but one are dropped before the model sees them.",
                remedy="Collect one entry per sample and stack them at the end.",
                refutation="The samples are summed on purpose.",
                related=[symptom.site, symptom.detail.get("loader")],
                explains=(*NOT_LEARNING, "D307", "D503"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = BatchCollapsedDetector.FAULTY


def flattening_line(sources: Sources, site: Site | None) -> Site | None:
    """In the function at a line: where the lists of several samples become one list."""
    function = None if site is None else sources.function_around(site)
    for node in ast.walk(function) if function is not None and site is not None else ():
        nested = isinstance(node, ast.ListComp) and len(node.generators) > 1
        if nested or (isinstance(node, ast.Call) and last_name(node.func) in _FLATTENING):
            return site_of(site.file, node)  # type: ignore[union-attr,arg-type]
    return None
