"""RL-ENV-DONES."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, fault, for_symptom, register
from netmend.localise.lines.acting_source import step_call
from netmend.localise.lines.bootstrap_source import bootstraps
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, Site


@register
class EndOfEpisodeIgnored:
    """The targets ignore that an episode has ended.

    The value of the state after an end is that of the next episode's start, or of nothing at all; it must not count. Multiply what
    follows by `1 - terminated`.
    """

    code: ClassVar[str] = "RL-ENV-DONES"

    least_ends: int = threshold(
        3, "convention", "episodes that really ended; without any the mask would change nothing"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        world = training_world(case.trace)
        step = step_call(case.sources, world)
        if (
            world is None
            or step is None
            or agents(case.trace)
            or world.terminated < self.least_ends
            or not case.trace.run.steps
        ):
            return
        found = bootstraps(case.sources, case.trace, step)
        if not found or any(target.masked for target in found):
            return
        text = f"The target adds the value of the next state at every step, including the {world.terminated} that ended an episode."
        evidence = [Evidence(text, PROVEN - FAIR)]
        evidence += [for_symptom(symptom, FAIR) for symptom in case.of("D723")[:1]]
        yield fault(
            self.code,
            evidence,
            component=world.name,
            site=found[0].site,
            summary=text,
            reason="Values leak from one episode into the next, and failing costs the agent nothing.",
            remedy="Multiply the value of the next state by `1 - terminated`.",
            refutation="The program excludes ended episodes from its targets in another way.",
            related=[step.site],
            explains=("D723", "D717"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a target without a mask",
            lambda: acted(a_world(stepped=Site("no_mask.txt", 14)), script="no_mask.txt"),
        ),
    )
