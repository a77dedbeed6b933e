"""Operators for reinforcement learning that give a setting of the algorithm other values, and those that remove one: M701 … M708, M714 … M720, M729."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.changes.case import Case
from netmend.mutate.agents.ladders import DOWN, UP, Ladder, RlOperator, SettingRow, register_rows
from netmend.mutate.agents.places import training
from netmend.mutate.examples import DQN_SCRIPT, PPO_SCRIPT, TD3_SCRIPT
from netmend.program.source.writing import delete_argument
from netmend.testing.example import Example, changed

_HAS_BUFFER = "an algorithm with a replay buffer"
_KNOWN_STEPS = "a number of steps that can be told"


class RolloutRow(SettingRow):
    def values(self, present: float, steps: float | None) -> Iterator[float]:
        """No rollout longer than the training."""
        return (number for number in self.numbers if steps is None or number <= max(present, steps))


class BufferRow(SettingRow):
    def values(self, present: float, steps: float | None) -> list[float]:
        """Shares of what the buffer would hold in the end."""
        return [] if steps is None else [share * min(steps, present) for share in self.shares]


def _percent(*shares: float) -> tuple[float, ...]:
    return tuple(share / 100 for share in shares)


_NOT_OF_PPO = {"not a setting of this algorithm": changed(PPO_SCRIPT)}
_NOT_OF_DQN = {"not a setting of this algorithm": changed(DQN_SCRIPT)}


def _added(text: str) -> dict[str, Example]:
    return {"added where the default holds": changed(DQN_SCRIPT, f"seed=0, **settings⟨ → , {text}⟩")}


def _added_to_ppo(text: str, title: str = "added where the default holds") -> dict[str, Example]:
    return {title: changed(PPO_SCRIPT, f"seed=0⟨ → , {text}⟩)")}


SETTINGS = (
    SettingRow(
        "M701",
        "discount factor",
        "gamma",
        causes=("RL-GAMMA",),
        published=("SDF",),
        needs="any algorithm",
        numbers=(0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999),  # those of µPRL
        page="""Change the discount factor.

        Far too low, the agent sees only the next few steps; too close to 1, distant rewards make the values noisy and slow to learn.""",
        examples={"the next lower one": changed(PPO_SCRIPT, "gamma=⟨0.98 → 0.95⟩"), **_added("gamma=0.98")},
    ),
    SettingRow(
        "M702",
        "entropy coefficient",
        "ent_coef",
        causes=("RL-REG-ENTROPY",),
        published=("SEC",),
        needs="PPO or A2C",
        one_way=UP,
        numbers=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0),  # µPRL: up to 0.2
        page="""Give the entropy bonus a large weight.

        The agent is paid for acting at random, up to never settling on anything.""",
        examples={**_added_to_ppo("ent_coef=0.01"), **_NOT_OF_DQN},
    ),
    SettingRow(
        "M703",
        "minimum exploration rate",
        "exploration_final_eps",
        causes=("RL-EXP-MIN",),
        published=("SMR",),
        needs="DQN or QR-DQN",
        numbers=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),  # µPRL: anything from 0 to 1
        page="""Keep the agent acting at random to the end.

        A high minimum of the exploration rate fills the buffer with random actions for good.""",
        examples={
            "in a dictionary of settings": changed(DQN_SCRIPT, "exploration_final_eps=⟨0.1 → 0.2⟩", nth=1),
            **_NOT_OF_PPO,
        },
    ),
    SettingRow(
        "M704",
        "start of learning",
        "learning_starts",
        causes=("RL-FA-LEARN-START",),
        published=("SLS",),
        needs=f"{_HAS_BUFFER}, and {_KNOWN_STEPS}",
        whole=True,
        one_way=UP,
        shares=_percent(0.5, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 70, 90, 100),  # µPRL: up to half
        page="""Start learning late, or after the end of training.

        Until then the agent only collects random steps; what is left of the budget is short.""",
        examples={"later": changed(DQN_SCRIPT, "learning_starts=⟨10 → 15⟩"), **_NOT_OF_PPO},
    ),
    RolloutRow(
        "M705",
        "rollout length",
        "n_steps",
        causes=("RL-FA-ROLLOUT",),
        published=("SNR",),
        needs="PPO, A2C or TRPO",
        algorithms=("PPO", "A2C", "TRPO"),
        whole=True,
        numbers=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072),  # those of µPRL
        page="""Change how many steps are collected before each update.

        Very short rollouts make noisy updates; very long ones leave few updates for the same budget.""",
        examples={"shorter": changed(PPO_SCRIPT, "n_steps=⟨16 → 8⟩"), **_NOT_OF_DQN},
    ),
    SettingRow(
        "M706",
        "number of training steps",
        "total_timesteps",
        causes=("RL-BUDGET-STEPS",),
        published=("NEI",),
        needs=_KNOWN_STEPS,
        whole=True,
        one_way=DOWN,
        shares=_percent(*range(95, 5, -5)),  # those of µPRL
        page="""Train for only a part of the steps.

        The return is still rising when training ends.""",
        examples={
            "a literal": changed(PPO_SCRIPT, "total_timesteps=⟨32 → 30⟩"),
            "a constant": changed(DQN_SCRIPT, "STEPS = ⟨100 → 10⟩", nth=17),
        },
    ),
    SettingRow(
        "M707",
        "target network's update interval",
        "target_update_interval",
        causes=("RL-NET-FREQ",),
        published=("SNU",),
        needs=f"DQN or QR-DQN, and {_KNOWN_STEPS}",
        algorithms=("DQN", "QRDQN"),
        whole=True,
        one_way=UP,
        shares=_percent(0.5, 1, 5, 10, 15, 20, 25, 30, 60, 110),  # µPRL: up to 30 %; above 100 %: never
        page="""Update the target network rarely.

        Values are then learned towards an old network; in the extreme it stays as it was initialised.""",
        examples={"rarer": changed(DQN_SCRIPT, "target_update_interval=⟨4 → 5⟩"), **_NOT_OF_PPO},
    ),
    SettingRow(
        "M708",
        "Polyak constant",
        "tau",
        causes=("RL-NET-TAU",),
        published=("SPV",),
        needs="SAC, TQC, TD3 or DDPG",
        # µPRL: 0.0005 to 0.12
        numbers=(1e-4, 5e-4, 8e-4, 0.001, 0.005, 0.01, 0.02, 0.05, 0.08, 0.1, 0.12, 0.5, 1.0),
        page="""Change the rate at which target networks follow.

        Too small, the targets lag behind; too large, they chase their own errors.""",
        examples={
            "added where the default holds": changed(TD3_SCRIPT, "        seed=0,⟨ →  tau=0.001,⟩\n"),
            **_NOT_OF_PPO,
        },
    ),
    BufferRow(
        "M714",
        "replay buffer size",
        "buffer_size",
        causes=("RL-BUF-SIZE",),
        published=("SBS",),
        needs=f"{_HAS_BUFFER}, and {_KNOWN_STEPS}",
        whole=True,
        one_way=DOWN,
        shares=_percent(50, 20, 10, 5, 2, 1, 0.2),
        page="""Make the replay buffer small.

        Only the latest steps are remembered: batches are correlated and what was learned is forgotten.""",
        examples={"half of what was kept": changed(DQN_SCRIPT, "buffer_size=⟨50 → 25⟩"), **_NOT_OF_PPO},
    ),
    SettingRow(
        "M715",
        "initial exploration rate",
        "exploration_initial_eps",
        causes=("RL-EXP-EPS",),
        published=("SER",),
        needs="DQN or QR-DQN",
        one_way=DOWN,
        numbers=(0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.0),
        page="""Start with little exploration.

        The agent repeats its first habits before it has seen anything else.""",
        examples={**_added("exploration_initial_eps=0.8"), **_NOT_OF_PPO},
    ),
    SettingRow(
        "M716",
        "exploration fraction",
        "exploration_fraction",
        causes=("RL-EXP-DECAY",),
        needs="DQN or QR-DQN",
        numbers=(0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0),
        page="""Let exploration decay too fast or too slowly.

        Frozen early, the agent keeps its first habits; too slowly, it never uses what it has learned.""",
        examples={**_added("exploration_fraction=0.05"), **_NOT_OF_PPO},
    ),
    SettingRow(
        "M717",
        "learning rate",
        "learning_rate",
        causes=("HYP-LR-HIGH", "HYP-LR-LOW"),
        down_cause="HYP-LR-LOW",
        up_cause="HYP-LR-HIGH",
        needs="a learning rate that is a number, no schedule",
        factors=(3, 10, 30, 100, 1000),
        page="""Multiply or divide the learning rate of the algorithm.

        Far too high, the policy jumps about and collapses; far too low, it hardly changes within the budget.""",
        examples={"higher": changed(DQN_SCRIPT, "learning_rate=⟨1e-3 → 0.003⟩", nth=5)},
    ),
    SettingRow(
        "M718",
        "largest gradient norm",
        "max_grad_norm",
        causes=("RL-FA-CLIP",),
        needs="PPO, A2C or DQN",
        one_way=UP,
        numbers=(2.0, 10.0, 1e9),
        page="""Remove gradient clipping.

        One bad batch can then throw the policy far off.""",
        examples={**_added_to_ppo("max_grad_norm=2")},
    ),
    SettingRow(
        "M719",
        "weight of the value loss",
        "vf_coef",
        causes=("RL-NET-BALANCE",),
        needs="PPO or A2C",
        numbers=(0.0, 0.001, 0.01, 0.1, 5.0, 50.0, 500.0),
        page="""Weight the value loss far too high or not at all.

        Where both share layers or a gradient norm, one drowns the other; without it the advantages are noise.""",
        examples={**_added_to_ppo("vf_coef=0.1", "lower"), **_NOT_OF_DQN},
    ),
    SettingRow(
        "M720",
        "steps between updates",
        "train_freq",
        causes=("RL-NET-FREQ",),
        needs=_HAS_BUFFER,
        whole=True,
        one_way=UP,
        factors=(2, 4, 8, 16, 64),
        page="""Update the network far less often.

        The same experience is collected, but hardly anything is learned from it.""",
        examples={**_added("train_freq=8"), **_NOT_OF_PPO},
    ),
)
register_rows(SETTINGS, lambda row: row.examples)


class ActionNoiseRemoved(RlOperator, code="M729", causes=("RL-EXP-MISSING",)):
    """Remove the exploration noise of a deterministic policy.

    It then tries nothing but what it already does.
    """

    needs = "an algorithm that is given action noise"
    title = "action noise"

    def ladders(self, case: Case) -> Iterator[Ladder]:
        here = training(case)
        if here is None:
            return
        for keyword in here.call.keywords:
            if keyword.arg == "action_noise":
                edits = delete_argument(here.file, here.call, keyword)
                yield from self.single(edits, "no action noise", here.algorithm.name)

    EXAMPLES = {
        "of TD3": changed(TD3_SCRIPT, "⟨        action_noise=NormalActionNoise([0.0], [0.1]),\n → ⟩"),
        "there is none": changed(PPO_SCRIPT),
    }
