"""Small programs that the examples of operators for reinforcement learning are about."""

from __future__ import annotations

PPO_SCRIPT = """
import gymnasium as gym
from stable_baselines3 import PPO

env = gym.make("CartPole-v1")
model = PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, gamma=0.98, seed=0)
model.learn(total_timesteps=32)
"""

DQN_SCRIPT = """
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env

STEPS = 100
venv = make_vec_env("CartPole-v1", n_envs=2, seed=0)
settings = dict(
    learning_rate=1e-3,
    buffer_size=50,
    learning_starts=10,
    batch_size=8,
    exploration_final_eps=0.1,
    target_update_interval=4,
)
model = DQN("MlpPolicy", venv, seed=0, **settings)
model.learn(STEPS)
"""

TD3_SCRIPT = """
import gymnasium as gym
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


def make_env():
    return gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)


def main():
    venv = VecNormalize(DummyVecEnv([make_env]), norm_reward=False)
    agent = TD3(
        "MlpPolicy",
        venv,
        learning_starts=8,
        batch_size=8,
        buffer_size=100,
        action_noise=NormalActionNoise([0.0], [0.1]),
        policy_kwargs={"net_arch": [8]},
        seed=0,
    )
    agent.learn(total_timesteps=16)


if __name__ == "__main__":
    main()
"""
