"""LOOP-WORKER-SEED."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.processes import WorkersDrawAlike as WorkersDrawAlikeDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.program.text.queries import site_of
from netmend.program.text.sources import Sources
from netmend.unit import Run
from netmend.vocabulary import Fault, Site


@register
class WorkersDrawAlike:
    """All loader workers draw the same random numbers.

    What should be different for every sample and every epoch is repeated: there is less variety than the program counts on.
    Give each worker's generator a seed of its own, in worker_init_fn or when the first sample is made.
    """

    code: ClassVar[str] = "LOOP-WORKER-SEED"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D317"):
            name, owner = str(symptom.detail["name"]), str(symptom.detail["owner"])
            seeded = symptom.detail["kind"] == "seed"
            made = None if seeded else assignment(case.sources, case.trace.run.script, owner, name)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=made or symptom.site,
                summary=symptom.message,
                reason="Random augmentation repeats in all workers and in every epoch.",
                remedy=f"Seed each worker differently in `{name}`, for example with `torch.initial_seed()`."
                if seeded
                else f"Create `{name}` in each worker: `np.random.default_rng(torch.utils.data.get_worker_info().seed)`, in a "
                "`worker_init_fn`.",
                refutation="The numbers repeat on purpose, or no sample uses this generator.",
                related=[symptom.detail.get("loader")],
            )

    FAULTY: ClassVar[tuple[Run, ...]] = WorkersDrawAlikeDetector.FAULTY


def assignment(sources: Sources, script: str, owner: str, attribute: str) -> Site | None:
    """The line `self.attribute = …` of a class."""
    for file in sources.files(script):
        for kind in sources.nodes(file):
            if not isinstance(kind, ast.ClassDef) or kind.name != owner:
                continue
            for node in ast.walk(kind):
                if isinstance(node, ast.Assign) and any(
                    isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets
                ):
                    return site_of(file, node)
    return None
