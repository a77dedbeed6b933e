"""A corridor of 12 cells: walk right to the door, with a time limit of 60 steps."""
import os

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import DQN

SEED = int(os.environ.get("SEED", "0"))
LENGTH = 12


class Corridor(gym.Env):
    def __init__(self):
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self.cell = 0
        self.t = 0

    def _obs(self):
        return np.array([self.cell / LENGTH, float(self.cell % 2)], dtype=np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = int(self.np_random.integers(0, LENGTH // 2))
        self.t = 0
        return self._obs(), {}

    def step(self, action):
        self.t += 1
        self.cell = max(0, self.cell + (1 if action == 1 else -1))
        reached = self.cell >= LENGTH
        reward = 1.0 if reached else -0.02
        return self._obs(), reward, reached, self.t >= 60, {}


model = DQN(
    "MlpPolicy", Corridor(), learning_rate=1e-3, learning_starts=200, target_update_interval=100, train_freq=2,
    exploration_fraction=0.4, seed=SEED,
)
model.learn(total_timesteps=3000)
