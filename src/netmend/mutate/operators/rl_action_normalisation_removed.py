"""M712."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.environment_source import environment_calls
from netmend.mutate.agents.example_programs import PPO_SCRIPT, TD3_SCRIPT
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.places import training
from netmend.mutate.mutation import register
from netmend.program.source.writing import unwrap_call
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class RlActionNormalisationRemoved(RlOperator):
    """Remove the wrapper that scales actions to between -1 and 1.

    A new policy acts with a spread of about 1: in a range of ±100 it hardly explores, in one of ±0.01 it always hits the edge. Algorithms that
    rescale actions themselves (SAC, TQC, TD3, DDPG) do not mind; there the mutant is equivalent, and is told so.
    """

    code: ClassVar[str] = "M712"
    causes: ClassVar[tuple[str, ...]] = ("RL-NORM-ACT",)
    published: ClassVar[tuple[str, ...]] = ("MNA",)
    needs: ClassVar[str] = "RescaleAction around the training environment"
    title: ClassVar[str] = "action normalisation"

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        for file, call in [] if here is None else environment_calls(case, here):
            if last_name(call.func) == "RescaleAction" and call.args:
                edits = unwrap_call(file, call, call.args[0])
                yield from self.single(edits, "actions not rescaled", "environment")
                return

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "unwrapped",
            TD3_SCRIPT,
            old='gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)',
            new='gym.make("Pendulum-v1")',
        ),
        Example("there is none", PPO_SCRIPT),
    )
