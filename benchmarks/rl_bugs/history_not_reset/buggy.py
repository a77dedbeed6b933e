"""Positions only: velocities are estimated from the last two observations."""

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


class EstimatedVelocity(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.last = None

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        return self.estimated(obs), info

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return self.estimated(obs), reward, terminated, truncated, info

    def estimated(self, obs):
        position = obs[[0, 2]]
        velocity = np.zeros(2) if self.last is None else (position - self.last) / 0.02
        self.last = position
        return np.array([position[0], velocity[0], position[1], velocity[1]], dtype=np.float32)


env = make_vec_env("CartPole-v1", n_envs=8, seed=5, wrapper_class=EstimatedVelocity)
model = PPO(
    "MlpPolicy",
    env,
    n_steps=64,
    batch_size=256,
    gae_lambda=0.9,
    gamma=0.98,
    learning_rate=lambda left: 2e-3 * left,
    seed=5,
)
model.learn(total_timesteps=40_000)
