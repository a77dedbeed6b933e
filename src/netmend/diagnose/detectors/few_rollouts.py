"""D725 FewRollouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class FewRollouts:
    """An agent that learns from its own rollouts was trained on hardly any of them.

    Such an algorithm changes its policy a little after each rollout; two or three of them lead nowhere. Usual causes: fewer steps
    in all than a few times `n_steps` times the number of environments.
    """

    code: ClassVar[str] = "D725"

    most: int = threshold(3, "convention", "trainings in all; each may change the policy a little only")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for agent in agents(trace):
            gathers = agent.settings.get("n_steps")
            if (
                agent.buffer_filled is not None
                or not isinstance(gathers, int)
                or agent.timesteps < agent.planned
            ):
                continue
            if 0 < agent.trainings <= self.most:
                yield Symptom(
                    self.code,
                    f"{agent.planned} steps were requested and {gathers * agent.copies} make one rollout: the agent was trained {agent.trainings} "
                    f"time{'s' if agent.trainings > 1 else ''} in all.",
                    component=agent.name,
                    observed=float(agent.trainings),
                    limit=float(self.most),
                    site=agent.learned,
                    detail={"rollout": gathers * agent.copies},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("many rollouts", lambda: acted(a_world(), an_agent(settings={"n_steps": 128}))),
        Run("four rollouts", lambda: acted(a_world(), an_agent(settings={"n_steps": 1024}, trainings=4))),
        Run(
            "an algorithm with a replay buffer",
            lambda: acted(a_world(), an_agent("DQN", {"n_steps": 1}, trainings=2, buffer_filled=500)),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one rollout",
            lambda: acted(
                a_world(), an_agent(settings={"n_steps": 2048}, trainings=1, planned=1000, timesteps=2048)
            ),
        ),
    )
