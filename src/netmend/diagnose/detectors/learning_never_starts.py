"""D719 LearningNeverStarts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.diagnose.measures.loop import calls
from netmend.unit import Run, threshold
from netmend.vocabulary import OptimizerFact, Site, Symptom, Trace


@register
class LearningNeverStarts:
    """The agent acts, but hardly learns or never does: the first update comes after most of the run, or not at all.

    What was gathered before is not lost, but the policy that gathered it was the untrained one. Usual causes: `learning_starts` beyond the number of steps,
    a replay buffer smaller than the batch that is waited for, a training frequency larger than the run.
    """

    code: ClassVar[str] = "D719"

    late_limit: float = threshold(
        0.6,
        "published",
        "share of the run before the first update; µPRL draws its mutants from 0.5 % to 50 %",
    )
    least_steps: int = threshold(200, "convention", "environment steps without an update that say something")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found:
            start = agent.settings.get("learning_starts") or 0
            if agent.timesteps >= self.least_steps and agent.updates == 0:
                yield self._symptom(
                    f"{agent.name.partition('@')[0]} took {agent.timesteps} steps and never updated its networks.",
                    agent.name, 1.0, agent.learned,
                )  # fmt: skip
            elif agent.timesteps >= self.least_steps and start > self.late_limit * agent.timesteps:
                yield self._symptom(
                    f"Learning starts after {start} of {agent.timesteps} steps.",
                    agent.name, start / agent.timesteps, agent.learned,
                )  # fmt: skip
        world = training_world(trace)
        if found or world is None or world.steps < self.least_steps or not trace.optimizers:
            return
        before = world.steps_before_learning
        if trace.run.steps == 0 and not any(calls(trace, "backward")):
            yield self._symptom(
                f"{world.steps} steps were taken in the environment, but no optimiser took one.",
                world.name, 1.0, world.stepped,
            )  # fmt: skip
        elif trace.run.steps and before is not None and before > self.late_limit * world.steps:
            yield self._symptom(
                f"The first update came after {before} of {world.steps} environment steps.",
                world.name, before / world.steps, world.stepped,
            )  # fmt: skip

    def _symptom(self, message: str, component: str, share: float, site: Site | None) -> Symptom:
        return Symptom(
            self.code, message, component=component, observed=share, limit=self.late_limit, site=site,
            detail={"never": share == 1.0},
        )  # fmt: skip

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("learns from the start", lambda: acted(a_world(), an_agent())),
        Run(
            "a warm-up of half the run", lambda: acted(a_world(), an_agent("DQN", {"learning_starts": 2500}))
        ),
        Run("nothing to train: a random policy", lambda: acted(a_world(), steps=0)),
        Run("a hand-written loop", lambda: acted(a_world(steps_before_learning=500))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "starts after the end",
            lambda: acted(a_world(), an_agent("DQN", {"learning_starts": 50_000}, updates=0), steps=0),
        ),
        Run("starts late", lambda: acted(a_world(), an_agent("DQN", {"learning_starts": 4500}))),
        Run(
            "a hand-written loop that never trains",
            lambda: acted(a_world(), OptimizerFact("optimizer", "Adam", (), Site("train.py", 8)), steps=0),
        ),
        Run("a hand-written loop that trains late", lambda: acted(a_world(steps_before_learning=4000))),
    )
