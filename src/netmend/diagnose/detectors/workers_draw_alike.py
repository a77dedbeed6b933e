"""D317 WorkersDrawAlike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.fact_examples import with_facts
from netmend.unit import Run, threshold
from netmend.vocabulary import LoaderFact, ProbeFact, Site, Symptom, Trace


def _workers(phase: str = "training", workers: int = 2, kind: str = "Generator") -> Trace:
    loader = LoaderFact("loader", workers=workers, phase=phase, created=Site("train.py", 9))
    values = {"workers": workers, "kind": kind, "name": "rng", "owner": "Noisy"}
    probe = ProbeFact("worker seeds@loader", "worker seeds", "loader", 0, values)
    return with_facts(loader, probe)


@register
class WorkersDrawAlike:
    """All workers of a DataLoader draw the same random numbers.

    Every worker has a copy of the dataset with a generator in the same state, and workers are made anew in each epoch: several samples
    get the same "random" augmentation, and each epoch repeats that of the one before.
    Usual causes: a generator that the dataset keeps, a worker_init_fn that gives all workers one seed.
    """

    code: ClassVar[str] = "D317"

    least_workers: int = threshold(2, "exact", "with one worker there is nobody to draw the same")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("worker seeds"):
            loader = trace.get(LoaderFact, probe.component)
            workers, kind = int(probe.values["workers"]), str(probe.values["kind"])
            if loader is None or loader.phase == "evaluation" or workers < self.least_workers:
                continue  # the same disturbance in every evaluation is often wanted
            name, owner = str(probe.values["name"]), str(probe.values["owner"])
            why = (
                f"`{name}` gives them all the same seed"
                if kind == "seed"
                else f"each has its own copy of `{name}`, a {kind} that {owner} keeps"
            )
            yield Symptom(
                self.code,
                f"The {workers} workers of {probe.component} draw the same random numbers: {why}.",
                component=probe.component,
                first_step=0,
                observed=float(workers),
                limit=float(self.least_workers),
                site=probe.site or loader.created,
                detail={"kind": kind, "name": name, "owner": owner, "loader": loader.created},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("evaluation disturbed in the same way each time", lambda: _workers("evaluation")),
        Run("one worker", lambda: _workers(workers=1)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a generator in the dataset", lambda: _workers()),
        Run("one seed for all", lambda: _workers(kind="seed")),
    )
