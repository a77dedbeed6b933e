"""A tank that must be kept half full. Observations and rewards are scaled in the environment."""
import os

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import A2C

SEED = int(os.environ.get("SEED", "0"))


class Tank(gym.Env):
    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level, self.inflow = float(self.np_random.uniform(20, 80)), 0.0
        return self.look(), {}

    def look(self):
        return np.array([(self.level - 50) / 50, self.inflow / 5], dtype=np.float32)

    def step(self, action):
        self.inflow = 5.0 * (int(action) - 1)
        self.level += self.inflow + float(self.np_random.normal(0, 1.5))
        empty = self.level <= 0 or self.level >= 100
        reward = -1.0 if empty else 0.1 - np.log(max(0.0, abs(self.level - 50) - 8.0))
        self.level = min(100.0, max(0.0, self.level))
        return self.look(), reward, empty, False, {}


model = A2C("MlpPolicy", TimeLimit(Tank(), 100), n_steps=16, seed=SEED)
model.learn(total_timesteps=4000)
