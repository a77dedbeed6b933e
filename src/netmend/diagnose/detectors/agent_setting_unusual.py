"""D724 AgentSettingUnusual."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.diagnose.measures.agent_settings import judged
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class AgentSettingUnusual:
    """A setting of the agent is far outside what is used for its algorithm.

    Short runs of agents vary so much that one run shows the effect of a setting badly; the setting itself is known exactly. Limits are
    those of the search spaces that the RL Zoo and µPRL publish, widened by a factor, or relative to the length of the run.
    """

    code: ClassVar[str] = "D724"

    least_timesteps: int = threshold(100, "convention", "an agent that hardly acted was not meant to learn")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for agent in agents(trace):
            if agent.timesteps < self.least_timesteps:
                continue
            for found in judged(agent):
                yield Symptom(
                    self.code,
                    f"`{found.name}={found.value:g}`: {found.why}.",
                    component=f"{agent.name}.{found.name}",
                    observed=float(found.value),
                    limit=found.limit,
                    site=agent.created,
                    detail={"setting": found.name, "leaf": found.leaf, "better": found.better},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "defaults of PPO",
            lambda: acted(
                a_world(),
                an_agent(settings={"n_steps": 64, "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5}),
            ),
        ),
        Run(
            "settings at the border",
            lambda: acted(a_world(), an_agent(settings={"gamma": 0.9, "ent_coef": 0.1, "vf_coef": 1.0})),
        ),
        Run(
            "defaults of DQN",
            lambda: acted(
                a_world(),
                an_agent(
                    "DQN",
                    {
                        "exploration_final_eps": 0.05,
                        "exploration_initial_eps": 1.0,
                        "exploration_fraction": 0.1,
                        "tau": 1.0,
                        "buffer_size": 50_000,
                    },
                    buffer_filled=5000,
                ),
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("short-sighted", lambda: acted(a_world(), an_agent(settings={"gamma": 0.3}))),
        Run(
            "random to the end",
            lambda: acted(a_world(), an_agent("DQN", {"exploration_final_eps": 0.9}, buffer_filled=5000)),
        ),
        Run(
            "a tiny buffer",
            lambda: acted(
                a_world(), an_agent("DQN", {"buffer_size": 64, "batch_size": 32}, buffer_filled=64)
            ),
        ),
        Run("entropy above all", lambda: acted(a_world(), an_agent(settings={"ent_coef": 5.0}))),
    )
