"""DQN by hand on a one-dimensional walk; learning waits for a full buffer."""
import os
import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))
TOTAL = 3000


class Config:
    learning_starts = 10_000
    batch = 32
    gamma = 0.95


cfg = Config()
env = gym.make("CartPole-v1")
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(q.parameters(), 1e-3)
data = []
obs, _ = env.reset(seed=0)
for t in range(TOTAL):
    if random.random() < max(0.05, 1 - t / 1500):
        a = env.action_space.sample()
    else:
        with torch.no_grad():
            a = int(q(torch.as_tensor(obs)).argmax())
    nobs, r, terminated, truncated, _ = env.step(a)
    data.append((obs, a, r, nobs, float(terminated)))
    obs = nobs
    if terminated or truncated:
        obs, _ = env.reset()
    if t > cfg.learning_starts:
        o, a_, r_, n, d = (torch.as_tensor(np.array(x)) for x in zip(*random.sample(data, cfg.batch)))
        with torch.no_grad():
            y = r_.float() + cfg.gamma * q(n).max(1).values * (1 - d.float())
        loss = nn.functional.mse_loss(q(o).gather(1, a_[:, None]).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
