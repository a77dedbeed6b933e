"""M729."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT, TD3_SCRIPT
from netmend.mutate.agents.ladders import Ladder, RlOperator
from netmend.mutate.agents.places import training
from netmend.mutate.mutation import register
from netmend.program.source.writing import delete_argument
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class RlActionNoiseRemoved(RlOperator):
    """Remove the exploration noise of a deterministic policy.

    It then tries nothing but what it already does.
    """

    code: ClassVar[str] = "M729"
    causes: ClassVar[tuple[str, ...]] = ("RL-EXP-MISSING",)
    needs: ClassVar[str] = "an algorithm that is given action noise"
    title: ClassVar[str] = "action noise"

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        if here is None:
            return
        for keyword in here.call.keywords:
            if keyword.arg == "action_noise":
                edits = delete_argument(here.file, here.call, keyword)
                yield from self.single(edits, "no action noise", here.algorithm.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("of TD3", TD3_SCRIPT, old="        action_noise=NormalActionNoise([0.0], [0.1]),\n", new=""),
        Example("there is none", PPO_SCRIPT),
    )
