"""D721 TargetFollowsAtOnce."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent, twins
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

WHAT = "weights while acting"


@register
class TargetFollowsAtOnce:
    """The target network is the same as the trained network whenever one looks.

    It is there to stand still for a while; a target that moves with every update lets errors feed on themselves. Usual causes: a copy at
    every step, a Polyak factor of one.
    """

    code: ClassVar[str] = "D721"

    least_looks: int = threshold(10, "convention", "looks at both networks")
    share_limit: float = threshold(
        0.9, "exact", "of the looks; a target that stands still between updates is apart at most of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found:
            share = agent.target_equal / max(1, agent.target_looks)
            if agent.target_looks >= self.least_looks and share >= self.share_limit:
                yield Symptom(
                    self.code,
                    f"At {agent.target_equal} of {agent.target_looks} checks the target network was equal to the trained one.",
                    component=agent.name,
                    observed=share,
                    limit=self.share_limit,
                    site=agent.created,
                )
        if found or training_world(trace) is None:
            return
        for probe in trace.probes(WHAT):
            values = probe.values
            share = values["equal"] / max(1, values["looks"])
            often = values["changes"] >= 0.5 * self.least_looks and share >= self.share_limit
            if not values["trained"] and values["twins"] and values["looks"] >= self.least_looks and often:
                yield Symptom(
                    self.code,
                    f"At {values['equal']} of {values['looks']} checks `{probe.component}` was equal to `{values['twins'][0]}`, which is trained.",
                    component=probe.component,
                    observed=share,
                    limit=self.share_limit,
                    detail={"twin": values["twins"][0]},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "stands still between updates",
            lambda: acted(a_world(), an_agent("DQN", target_looks=50, target_changes=10, target_equal=10)),
        ),
        Run("a hand-written pair", lambda: acted(a_world(), *twins(changes=30, equal=4))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a Polyak factor of one",
            lambda: acted(
                a_world(), an_agent("SAC", {"tau": 1.0}, target_looks=50, target_changes=50, target_equal=50)
            ),
        ),
        Run("a hand-written pair", lambda: acted(a_world(), *twins(changes=40, equal=40))),
    )
