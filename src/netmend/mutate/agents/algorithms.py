"""The algorithms of Stable-Baselines3 that can be mutated: what they are called, which settings they have, and their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Algorithm:
    """One class of Stable-Baselines3 or its contrib package. `defaults` are those of its constructor."""

    name: str
    package: str
    continuous: bool  # takes environments with continuous actions only
    discrete: bool  # takes environments with discrete actions only
    defaults: dict[str, float] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        return f"{self.package}.{self.name}"


_SB3, _CONTRIB = "stable_baselines3", "sb3_contrib"
_ON_POLICY = {"gamma": 0.99, "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5, "gae_lambda": 0.95}
_DQN = {
    "gamma": 0.99, "buffer_size": 1_000_000, "learning_starts": 100, "train_freq": 4, "gradient_steps": 1, "target_update_interval": 10_000,
    "exploration_fraction": 0.1, "exploration_initial_eps": 1.0, "exploration_final_eps": 0.05,
}  # fmt: skip
_ACTOR_CRITIC = {
    "gamma": 0.99, "buffer_size": 1_000_000, "learning_starts": 100, "train_freq": 1, "gradient_steps": 1, "tau": 0.005,
}  # fmt: skip

ALGORITHMS: dict[str, Algorithm] = {
    each.name: each
    for each in (
        Algorithm("PPO", _SB3, False, False, {**_ON_POLICY, "learning_rate": 3e-4, "n_steps": 2048, "n_epochs": 10, "batch_size": 64}),
        Algorithm("A2C", _SB3, False, False, {**_ON_POLICY, "gae_lambda": 1.0, "learning_rate": 7e-4, "n_steps": 5}),
        Algorithm("DQN", _SB3, False, True, {**_DQN, "learning_rate": 1e-4, "batch_size": 32, "max_grad_norm": 10}),
        Algorithm("SAC", _SB3, True, False, {**_ACTOR_CRITIC, "learning_rate": 3e-4, "batch_size": 256}),
        Algorithm("TD3", _SB3, True, False, {**_ACTOR_CRITIC, "learning_rate": 1e-3, "batch_size": 256}),
        Algorithm("DDPG", _SB3, True, False, {**_ACTOR_CRITIC, "learning_rate": 1e-3, "batch_size": 256}),
        Algorithm("TQC", _CONTRIB, True, False, {**_ACTOR_CRITIC, "learning_rate": 3e-4, "batch_size": 256}),
        Algorithm(
            "QRDQN", _CONTRIB, False, True,
            {**_DQN, "learning_rate": 5e-5, "batch_size": 32, "exploration_fraction": 0.005, "exploration_final_eps": 0.01},
        ),
        Algorithm("TRPO", _CONTRIB, False, False, {"gamma": 0.99, "gae_lambda": 0.95, "learning_rate": 1e-3, "n_steps": 2048, "batch_size": 128}),
    )
}  # fmt: skip
