"""RL-REG-ENTROPY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.agents import ActionsCollapse
from netmend.diagnose.measures.acting import agents
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import setting_line
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class PolicyCollapses:
    """The policy collapses onto one action: nothing keeps it trying others.

    Once it is certain it sees no other outcome. Add an entropy bonus of about 0.01, lower the learning rate, and normalise advantages.
    """

    code: ClassVar[str] = "RL-REG-ENTROPY"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D722"):
            agent = next(iter(agents(case.trace)), None)
            site = None if agent is None else setting_line(case.sources, agent, "ent_coef")
            backward = next((loss.backward for loss in case.trace.losses if loss.backward is not None), None)
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG)],
                component=symptom.component,
                site=site or backward or symptom.site,
                summary=symptom.message,
                reason="A policy that is certain no longer explores.",
                remedy="Add an entropy bonus of about 0.01 to the objective, and lower the learning rate.",
                refutation="One action is right in every state.",
                related=[symptom.site],
                explains=("D722",),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = ActionsCollapse.FAULTY
