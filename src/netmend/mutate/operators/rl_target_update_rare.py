"""M707."""

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
class RlTargetUpdateRare(SettingOperator):
    """Update the target network rarely.

    Values are then learned towards an old network; in the extreme it stays as it was initialised.
    """

    code: ClassVar[str] = "M707"
    causes: ClassVar[tuple[str, ...]] = ("RL-NET-FREQ",)
    published: ClassVar[tuple[str, ...]] = ("SNU",)
    needs: ClassVar[str] = "DQN or QR-DQN, and a number of steps that can be told"
    title: ClassVar[str] = "target network's update interval"
    setting: ClassVar[str] = "target_update_interval"
    algorithms: ClassVar[tuple[str, ...]] = ("DQN", "QRDQN")
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
        0.6,
        1.1,
    )  # µPRL: up to 0.3; above 1: never

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [] if steps is None else [share * steps for share in self.shares]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("rarer", DQN_SCRIPT, old="target_update_interval=4", new="target_update_interval=5"),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
