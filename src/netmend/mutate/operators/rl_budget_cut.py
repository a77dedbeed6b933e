"""M706."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import DOWN, SettingOperator
from netmend.mutate.agents.places import Setting, Training
from netmend.mutate.mutation import register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class RlBudgetCut(SettingOperator):
    """Train for only a part of the steps.

    The return is still rising when training ends.
    """

    code: ClassVar[str] = "M706"
    causes: ClassVar[tuple[str, ...]] = ("RL-BUDGET-STEPS",)
    published: ClassVar[tuple[str, ...]] = ("NEI",)
    needs: ClassVar[str] = "a number of steps that can be told"
    title: ClassVar[str] = "number of training steps"
    setting: ClassVar[str] = "total_timesteps"
    whole: ClassVar[bool] = True
    one_way: ClassVar[str] = DOWN

    shares: tuple[float, ...] = (
        0.95,
        0.9,
        0.85,
        0.8,
        0.75,
        0.7,
        0.65,
        0.6,
        0.55,
        0.5,
        0.45,
        0.4,
        0.35,
        0.3,
        0.25,
        0.2,
        0.15,
        0.1,
    )  # those of µPRL

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [share * present for share in self.shares]

    def found(self, case: Case, here: Training) -> Setting | None:
        return here.steps(case)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a literal", PPO_SCRIPT, old="total_timesteps=32", new="total_timesteps=30"),
        Example("a constant", DQN_SCRIPT, old="STEPS = 100", new="STEPS = 10", nth=17),
    )
