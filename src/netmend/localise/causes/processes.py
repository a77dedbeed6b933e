"""Processes of one run: workers that draw alike, replicas that differ."""

from __future__ import annotations

import ast

from netmend.diagnose.detectors.processes import ReplicaDesync, WorkersDrawAlike
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.program.text.queries import inside, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Symptom


@accuses("LOOP-WORKER-SEED", WorkersDrawAlike)
def workers_draw_alike(case: Case, symptom: Symptom) -> Accusation:
    """All loader workers draw the same random numbers.

    What should be different for every sample and every epoch is repeated: there is less variety than the program counts on.
    Give each worker's generator a seed of its own, in worker_init_fn or when the first sample is made.
    """
    name, owner = str(symptom.detail["name"]), str(symptom.detail["owner"])
    seeded = symptom.detail["kind"] == "seed"
    made = None if seeded else assignment(case.sources, case.trace.run.script, owner, name)
    return Accusation(
        PROVEN,
        site=made or symptom.site,
        reason="Random augmentation repeats in all workers and in every epoch.",
        remedy=f"Seed each worker differently in `{name}`, for example with `torch.initial_seed()`."
        if seeded
        else f"Create `{name}` in each worker: `np.random.default_rng(torch.utils.data.get_worker_info().seed)`, in a "
        "`worker_init_fn`.",
        refutation="The numbers repeat on purpose, or no sample uses this generator.",
        related=[symptom.detail.get("loader")],
    )


def assignment(sources: Sources, script: str, owner: str, attribute: str) -> Site | None:
    """The line `self.attribute = …` of a class."""
    for file in sources.files(script):
        for kind in sources.nodes(file):
            if not isinstance(kind, ast.ClassDef) or kind.name != owner:
                continue
            for node in inside(kind, ast.Assign):
                if any(
                    isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets
                ):
                    return site_of(file, node)
    return None


@accuses("GPU-PARALLEL", ReplicaDesync)
def replicas_differ(case: Case, symptom: Symptom) -> Accusation:
    """The processes of a distributed run train different models.

    Without averaged gradients each process learns from its own share of the data only.
    Wrap the model in DistributedDataParallel and call the wrapper, not the model inside it.
    """
    return Accusation(
        PROVEN,
        site=symptom.site or _raw_call(case, symptom.component),
        reason="Each process trains its own model on a part of the data.",
        remedy="Wrap the model in `DistributedDataParallel`, and call the wrapper in the training loop.",
        refutation="The models differ on purpose, as in ensembles or federated training.",
    )


def _raw_call(case: Case, parameter: str) -> Site | None:
    """Where the model that owns a parameter is called: without its wrapper, if it has none."""
    owners = [model for model in case.trace.models if parameter.startswith(f"{model.name}.")]
    bare = next((model for model in owners if model.wrapper is None), None)
    return bare.called or bare.created if bare is not None else None
