"""RL-BUDGET-STEPS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.episodes import FewRollouts
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import planned_line
from netmend.unit import Run
from netmend.vocabulary import AgentFact, Fault


@register
class AgentTrainedBriefly:
    """The agent is trained for too few steps.

    Each training moves the policy a little. Ask for at least ten to a hundred times as many steps as one rollout has.
    """

    code: ClassVar[str] = "RL-BUDGET-STEPS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D725"):
            agent = case.trace.get(AgentFact, symptom.component)
            if agent is None:
                continue
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + 1.0)],
                component=agent.name,
                site=planned_line(case.sources, agent),
                summary=symptom.message,
                reason="A policy that is updated this rarely is still close to its random start.",
                remedy=f"Ask for at least {20 * symptom.detail['rollout']} steps, or gather fewer per rollout.",
                refutation="The return cannot get any better.",
                related=[agent.created, agent.learned],
                explains=("D725", "D722", "D711"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = FewRollouts.FAULTY
