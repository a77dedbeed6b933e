"""M702."""

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
class RlEntropyWeighed(SettingOperator):
    """Give the entropy bonus a large weight.

    The agent is paid for acting at random, up to never settling on anything.
    """

    code: ClassVar[str] = "M702"
    causes: ClassVar[tuple[str, ...]] = ("RL-REG-ENTROPY",)
    published: ClassVar[tuple[str, ...]] = ("SEC",)
    needs: ClassVar[str] = "PPO or A2C"
    title: ClassVar[str] = "entropy coefficient"
    setting: ClassVar[str] = "ent_coef"
    one_way: ClassVar[str] = UP

    numbers: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)  # µPRL: up to 0.2

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("added where the default holds", PPO_SCRIPT, old="seed=0)", new="seed=0, ent_coef=0.01)"),
        Example("not a setting of this algorithm", DQN_SCRIPT),
    )
