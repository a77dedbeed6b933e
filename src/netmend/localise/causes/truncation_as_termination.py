"""RL-ENV-FLAGS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.episodes import TruncationMerged
from netmend.diagnose.measures.acting import training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.acting_source import StepCall, kept, step_call
from netmend.localise.lines.agent_lines import method_of, returned_line
from netmend.localise.lines.bootstrap_source import bootstraps
from netmend.program.text.queries import site_of
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, ModelFact, Site, Symptom, WorldFact


@register
class TruncationAsTermination:
    """An episode that was cut off by a time limit is treated as one that has ended.

    Nothing follows an end, so its target is the last reward alone; a state that was merely cut off would have had a future, and its value is learned too low. Keep
    `terminated` for targets and `terminated or truncated` for the loop.
    """

    code: ClassVar[str] = "RL-ENV-FLAGS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D716"):
            world = case.trace.get(WorldFact, symptom.component)
            method = None if world is None else method_of(world, "step")
            site = returned_line(case.sources, method, 2) or symptom.site
            yield self._fault(
                [for_symptom(symptom, PROVEN)], symptom, site, "Return the two flags unchanged.", [method]
            )
        for symptom in case.of("D717"):
            step = step_call(case.sources, training_world(case.trace))
            if step is not None:
                yield from self._by_hand(case, symptom, step)

    def _by_hand(self, case: Case, symptom: Symptom, step: StepCall) -> Iterator[Fault]:
        """Both flags go into one name, that name is kept, and the targets are masked with something."""
        combined = step.combined
        if not combined or kept(step, {step.terminated}) or not kept(step, set(combined)):
            return
        targets = [target for target in bootstraps(case.sources, case.trace, step) if target.masked]
        if not targets:
            return
        name, statement = next(iter(combined.items()))
        text = f"`{name}` joins both flags, and only it is kept for the targets."
        evidence = [Evidence(text, STRONG + FAIR), for_symptom(symptom, FAIR)]
        remedy = f"Keep `{step.terminated}` for the targets; `{name}` is right for ending the loop."
        yield self._fault(
            evidence, symptom, site_of(step.file, statement), remedy, [step.site, targets[0].site], text
        )

    def _fault(
        self,
        evidence: list[Evidence],
        symptom: Symptom,
        site: Site | None,
        remedy: str,
        related: list[Site | None],
        text: str = "",
    ) -> Fault:
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=site,
            summary=f"{text} {symptom.message}".strip(),
            reason="Values of late states are learned too low, although nothing really ends there.",
            remedy=remedy,
            refutation="Time is part of the task, and the observation includes the time left.",
            related=related,
            explains=("D716", "D717"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *TruncationMerged.FAULTY,
        Run(
            "a hand-written replay buffer that keeps `done`",
            lambda: acted(
                a_world(truncated=60, terminated=90, stepped=Site("flags_joined.txt", 16)),
                ModelFact("target", "Linear"),
                script="flags_joined.txt",
            ),
        ),
    )
