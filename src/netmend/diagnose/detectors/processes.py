"""Processes that end with an exception, differ where they must agree, or agree where they must differ."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import trace_of, with_facts
from netmend.diagnose.measures.ending import failing_layer
from netmend.diagnose.measures.replicas import with_replicas
from netmend.unit import convention, exact
from netmend.vocabulary import EnvironmentFact, LoaderFact, ProbeFact, RunFact, Site, Symptom, Table, Trace

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # some messages are written for a terminal


def _ended(status: str, exception: str | None) -> Trace:
    run = RunFact(
        "example", "train.py", status=status, exception=exception, exception_site=Site("train.py", 20)
    )
    return trace_of(run)


class Crashed(Detector, code="D701"):
    """The program ended with an exception.

    Where it was raised is often not where the mistake is: a shape that does not fit shows at the layer that notices it.
    Usual causes: shapes or types that do not fit, labels out of range, a graph that is used twice, a missing file.
    """

    longest = convention(200, "characters of the message that are shown; the rest is in the traceback")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        run = trace.run
        if run.status != "failed" or not run.exception or run.exception.startswith("SystemExit"):
            return
        layer = failing_layer(trace)
        message = " ".join(_COLOURS.sub("", run.exception).split())
        shown = message if len(message) <= self.longest else message[: self.longest] + "…"
        yield self.symptom(
            f"The program ended with {shown.rstrip('.')}.",
            (layer.name if layer is not None else "", run.exception_site),
            detail={"exception": run.exception, "layer": None if layer is None else layer.name},
            first_step=run.steps,
        )

    HEALTHY = {
        "finished": lambda: _ended("finished", None),
        "interrupted": lambda: _ended("interrupted", "KeyboardInterrupt: "),
        "left with a code of its own": lambda: _ended("failed", "SystemExit: 3"),
    }
    FAULTY = {
        "shapes that do not fit": lambda: _ended(
            "failed", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x32 and 16x4)"
        )
    }


def _rank(*means: float) -> Trace:
    rows = {step: (mean, 1.0) for step, mean in enumerate(means)}
    return trace_of(EnvironmentFact(world_size=2), Table.of("weight", "model.fc.weight", rows))


class ReplicaDesync(Detector, code="D223"):
    """The same parameter has different values on the processes of a distributed run.

    Every process then trains a model of its own on a part of the data, and only one of them is saved.
    Usual causes: the model is not wrapped in DistributedDataParallel, gradients are not averaged, a part is updated by hand on
    one process only.
    """

    least_parameters = exact(1, "replicas are equal to the last digit, or they are not replicas")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        events = [event for event in trace.events if event.kind == "replicas differ"]
        if len(events) < self.least_parameters:
            return
        first = min(events, key=lambda event: event.step)
        message = (
            f"{len(events)} parameters differ between the processes of the run from step {first.step} on "
            f"({first.component} first)."
        )
        yield self.symptom(
            message, first.component, float(len(events)), 0.0, first_step=first.step, site=first.site
        )

    HEALTHY = {
        "equal on both": lambda: with_replicas(_rank(0.1, 0.2, 0.3), (_rank(0.1, 0.2, 0.3),)),
        "one process": lambda: _rank(0.1, 0.2, 0.3),
    }
    FAULTY = {"they drift apart": lambda: with_replicas(_rank(0.1, 0.2, 0.3), (_rank(0.1, 0.21, 0.33),))}


def _workers(phase: str = "training", workers: int = 2, kind: str = "Generator") -> Trace:
    loader = LoaderFact("loader", workers=workers, phase=phase, created=Site("train.py", 9))
    values = {"workers": workers, "kind": kind, "name": "rng", "owner": "Noisy"}
    probe = ProbeFact("worker seeds@loader", "worker seeds", "loader", 0, values)
    return with_facts(loader, probe)


class WorkersDrawAlike(Detector, code="D317"):
    """All workers of a DataLoader draw the same random numbers.

    Every worker has a copy of the dataset with a generator in the same state, and workers are made anew in each epoch: several samples
    get the same "random" augmentation, and each epoch repeats that of the one before.
    Usual causes: a generator that the dataset keeps, a worker_init_fn that gives all workers one seed.
    """

    least_workers = exact(2, "with one worker there is nobody to draw the same")

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
            yield self.symptom(
                f"The {workers} workers of {probe.component} draw the same random numbers: {why}.",
                (probe.component, probe.site or loader.created),
                observed=float(workers),
                limit=float(self.least_workers),
                detail={"kind": kind, "name": name, "owner": owner, "loader": loader.created},
                first_step=0,
            )

    HEALTHY = {
        "evaluation disturbed in the same way each time": lambda: _workers("evaluation"),
        "one worker": lambda: _workers(workers=1),
    }
    FAULTY = {
        "a generator in the dataset": lambda: _workers(),
        "one seed for all": lambda: _workers(kind="seed"),
    }
