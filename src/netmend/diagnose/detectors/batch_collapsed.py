"""D318 BatchCollapsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.fact_examples import with_facts
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, ProbeFact, Site, Symptom, Trace


def _collated(samples: int, given: int, made: int, rows: Sequence[int]) -> Trace:
    values = {"samples": samples, "given": given, "made": made, "rows": list(rows)}
    probe = ProbeFact("collation@loader", "collation", "loader", 0, values, Site("train.py", 30))
    return with_facts(LoaderFact("loader", batch_size=samples, created=Site("train.py", 50)), probe)


@register
class BatchCollapsed:
    """Many samples go into the collate function, but its batch holds only one.

    The model is trained on a small part of the data, with batches of one, while everything else (epochs, rates, reports) counts all of it.
    Usual causes: lists of different depth that are zipped, a processor that takes the pictures of all samples for those of one.
    """

    code: ClassVar[str] = "D318"

    least_samples: int = threshold(4, "convention", "samples that were put together")
    largest_share: float = threshold(
        0.5,
        "exact",
        "of what the samples hold that is left: samples put one behind another into a single row lose nothing",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("collation"):
            samples, given = int(probe.values["samples"]), int(probe.values["given"])
            made, rows = int(probe.values["made"]), list(probe.values["rows"])
            if samples < self.least_samples or not given or not rows or max(rows) != 1:
                continue
            share = made / given
            if share > self.largest_share:
                continue
            loader = trace.get(LoaderFact, probe.component)
            yield Symptom(
                self.code,
                f"`{probe.component}` puts {samples} samples together, but its batch has only one row:  {share:.0%} of what they "
                "hold is left.",
                component=probe.component,
                first_step=0,
                observed=share,
                limit=self.largest_share,
                site=probe.site or (loader.created if loader is not None else None),
                detail={"samples": samples, "loader": loader.created if loader is not None else None},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("stacked", lambda: _collated(50, 5000, 5000, (50, 50))),
        Run("packed into one long row", lambda: _collated(50, 5000, 5100, (1, 1))),
        Run("a batch of one", lambda: _collated(1, 100, 100, (1,))),
        Run("broken samples were left out", lambda: _collated(50, 5000, 4700, (47, 47))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("only the first is left", lambda: _collated(50, 5000, 100, (1, 1))),
    )
