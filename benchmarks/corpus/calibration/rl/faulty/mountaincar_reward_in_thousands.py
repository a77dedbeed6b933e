"""MountainCar with the height of the car added to the reward, so that there is something to learn from."""
import os

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

SEED = int(os.environ.get("SEED", "0"))


class Height(gym.Wrapper):
    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        position, velocity = obs
        reward = 5000.0 * (np.sin(3 * position) + 20.0 * abs(velocity) - 1.0)
        return obs, float(reward), terminated, truncated, info


venv = make_vec_env("MountainCar-v0", n_envs=4, seed=SEED, wrapper_class=Height)
model = PPO("MlpPolicy", venv, n_steps=128, batch_size=128, n_epochs=4, gae_lambda=0.98, ent_coef=0.0, seed=SEED)
model.learn(6144)
