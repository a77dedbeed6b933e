"""M718."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import UP, SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlClippingRemoved(SettingOperator):
    """Remove gradient clipping.

    One bad batch can then throw the policy far off.
    """

    code: ClassVar[str] = "M718"
    causes: ClassVar[tuple[str, ...]] = ("RL-FA-CLIP",)
    needs: ClassVar[str] = "PPO, A2C or DQN"
    title: ClassVar[str] = "largest gradient norm"
    setting: ClassVar[str] = "max_grad_norm"
    one_way: ClassVar[str] = UP

    numbers: tuple[float, ...] = (2.0, 10.0, 1e9)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [number for number in self.numbers if number > present]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("added where the default holds", PPO_SCRIPT, old="seed=0)", new="seed=0, max_grad_norm=2)"),
    )
