import os

import gymnasium as gym
from stable_baselines3 import PPO


class OldStyle(gym.Wrapper):
    """Our evaluation code still expects a single done flag."""

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        done = terminated or truncated
        return obs, reward, done, False, info


env = OldStyle(gym.make("Pendulum-v1"))
model = PPO("MlpPolicy", env, n_steps=256, n_epochs=5, gamma=0.95, learning_rate=1e-3, seed=int(os.environ.get("SEED", "0")))
model.learn(4096)
