"""M717."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT
from netmend.mutate.agents.ladders import SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlLearningRateScaled(SettingOperator):
    """Multiply or divide the learning rate of the algorithm.

    Far too high, the policy jumps about and collapses; far too low, it hardly changes within the budget.
    """

    code: ClassVar[str] = "M717"
    causes: ClassVar[tuple[str, ...]] = ("HYP-LR-HIGH", "HYP-LR-LOW")
    needs: ClassVar[str] = "a learning rate that is a number, no schedule"
    title: ClassVar[str] = "learning rate"
    setting: ClassVar[str] = "learning_rate"
    down_cause: ClassVar[str] = "HYP-LR-LOW"
    up_cause: ClassVar[str] = "HYP-LR-HIGH"

    factors: tuple[float, ...] = (3, 10, 30, 100, 1000)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [
            *(present * factor for factor in self.factors),
            *(present / factor for factor in self.factors),
        ]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("higher", DQN_SCRIPT, old="learning_rate=1e-3", new="learning_rate=0.003", nth=5),
    )
