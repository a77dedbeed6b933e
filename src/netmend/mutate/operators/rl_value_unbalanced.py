"""M719."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlValueUnbalanced(SettingOperator):
    """Weight the value loss far too high or not at all.

    Where both share layers or a gradient norm, one drowns the other; without it the advantages are noise.
    """

    code: ClassVar[str] = "M719"
    causes: ClassVar[tuple[str, ...]] = ("RL-NET-BALANCE",)
    needs: ClassVar[str] = "PPO or A2C"
    title: ClassVar[str] = "weight of the value loss"
    setting: ClassVar[str] = "vf_coef"

    numbers: tuple[float, ...] = (0.0, 0.001, 0.01, 0.1, 5.0, 50.0, 500.0)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("lower", PPO_SCRIPT, old="seed=0)", new="seed=0, vf_coef=0.1)"),
        Example("not a setting of this algorithm", DQN_SCRIPT),
    )
