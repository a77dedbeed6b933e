"""M704."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import UP, SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlLearningStartsLate(SettingOperator):
    """Start learning late, or after the end of training.

    Until then the agent only collects random steps; what is left of the budget is short.
    """

    code: ClassVar[str] = "M704"
    causes: ClassVar[tuple[str, ...]] = ("RL-FA-LEARN-START",)
    published: ClassVar[tuple[str, ...]] = ("SLS",)
    needs: ClassVar[str] = "an algorithm with a replay buffer, and a number of steps that can be told"
    title: ClassVar[str] = "start of learning"
    setting: ClassVar[str] = "learning_starts"
    whole: ClassVar[bool] = True
    one_way: ClassVar[str] = UP

    shares: tuple[float, ...] = (
        0.005,
        0.01,
        0.05,
        0.1,
        0.15,
        0.2,
        0.25,
        0.3,
        0.35,
        0.4,
        0.45,
        0.5,
        0.7,
        0.9,
        1.0,
    )  # µPRL: up to 0.5

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [] if steps is None else [share * steps for share in self.shares]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("later", DQN_SCRIPT, old="learning_starts=10", new="learning_starts=15"),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
