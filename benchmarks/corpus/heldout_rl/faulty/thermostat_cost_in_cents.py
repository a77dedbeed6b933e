"""A room with a heater; temperatures are centred and scaled before the agent sees them."""
import os

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import SAC


class Room(gym.Env):
    def __init__(self, horizon=80):
        self.horizon = horizon
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Box(-5.0, 5.0, (2,), np.float32)

    def _get_obs(self):
        return np.array([(self.temp - 20.0) / 10.0, (self.outside - 10.0) / 10.0], dtype=np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.temp = self.np_random.uniform(10, 30)
        self.outside = self.np_random.uniform(0, 20)
        self.clock = 0
        return self._get_obs(), {}

    def step(self, action):
        self.clock += 1
        self.temp += 0.1 * (self.outside - self.temp) + 2.0 * float(action[0])
        comfort = -1000.0 * abs(self.temp - 20.0)
        return self._get_obs(), comfort - 0.05 * float(action[0]) ** 2, False, self.clock >= self.horizon, {}


model = SAC("MlpPolicy", Room(), learning_starts=120, batch_size=32, policy_kwargs={"net_arch": [32, 32]}, seed=int(os.environ.get("SEED", "0")))
model.learn(800)
