"""M708."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT, TD3_SCRIPT
from netmend.mutate.agents.ladders import SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlPolyakChanged(SettingOperator):
    """Change the rate at which target networks follow.

    Too small, the targets lag behind; too large, they chase their own errors.
    """

    code: ClassVar[str] = "M708"
    causes: ClassVar[tuple[str, ...]] = ("RL-NET-TAU",)
    published: ClassVar[tuple[str, ...]] = ("SPV",)
    needs: ClassVar[str] = "SAC, TQC, TD3 or DDPG"
    title: ClassVar[str] = "Polyak constant"
    setting: ClassVar[str] = "tau"

    numbers: tuple[float, ...] = (
        0.0001,
        0.0005,
        0.0008,
        0.001,
        0.005,
        0.01,
        0.02,
        0.05,
        0.08,
        0.1,
        0.12,
        0.5,
        1.0,
    )  # µPRL: 0.0005 to 0.12

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "added where the default holds",
            TD3_SCRIPT,
            old="        seed=0,\n",
            new="        seed=0, tau=0.001,\n",
        ),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
