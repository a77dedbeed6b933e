import os

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO


class Millimetres(gym.ObservationWrapper):
    """The sensor reports positions in millimetres."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def observation(self, observation):
        return (observation * np.array([1000.0, 1000.0, 1.0, 1.0])).astype(np.float32)


env = Millimetres(gym.make("CartPole-v1"))
model = PPO("MlpPolicy", env, n_steps=256, n_epochs=5, seed=int(os.environ.get("SEED", "0")))
model.learn(total_timesteps=3000)
