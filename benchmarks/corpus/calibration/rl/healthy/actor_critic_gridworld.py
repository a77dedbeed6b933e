"""One-step actor-critic on a small grid of its own."""
import os

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import nn, optim

SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
SIDE = 5


class Grid(gym.Env):
    metadata = {"render_modes": []}

    def __init__(self):
        self.observation_space = spaces.Box(0, 1, (SIDE * SIDE,), np.float32)
        self.action_space = spaces.Discrete(4)

    def _see(self):
        seen = np.zeros(SIDE * SIDE, np.float32)
        seen[self.at[0] * SIDE + self.at[1]] = 1.0
        return seen

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = [int(self.np_random.integers(SIDE - 1)), int(self.np_random.integers(SIDE - 1))]
        self.moves = 0
        return self._see(), {}

    def step(self, action):
        self.moves += 1
        axis, way = divmod(int(action), 2)
        self.at[axis] = min(SIDE - 1, max(0, self.at[axis] + (1 if way else -1)))
        home = self.at == [SIDE - 1, SIDE - 1]
        return self._see(), (1.0 if home else -0.05), home, self.moves >= 50, {}


env = Grid()
actor = nn.Linear(SIDE * SIDE, 4)
critic = nn.Linear(SIDE * SIDE, 1)
optimizer = optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.02)
gamma = 0.97
state, _ = env.reset(seed=SEED)
for step in range(3000):
    x = torch.from_numpy(state)
    dist = torch.distributions.Categorical(logits=actor(x))
    action = dist.sample()
    state, reward, terminated, truncated, _ = env.step(action)
    with torch.no_grad():
        future = torch.zeros(1) if terminated else critic(torch.from_numpy(state))
    target = reward + gamma * future
    value = critic(x)
    advantage = (target - value).detach()
    loss = (target - value).pow(2).sum() - (dist.log_prob(action) * advantage).sum() - 0.01 * dist.entropy()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if terminated or truncated:
        state, _ = env.reset()
