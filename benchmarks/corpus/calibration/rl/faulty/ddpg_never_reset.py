import copy
import os

import gymnasium as gym
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)
env = gym.make("Pendulum-v1")

actor = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)
tau, gamma, batch_size = 0.01, 0.95, 64

size = 5000
buf = {k: np.zeros((size, n), dtype=np.float32) for k, n in (("s", 3), ("a", 1), ("r", 1), ("s2", 3), ("end", 1))}
count = 0

obs, _ = env.reset(seed=seed)
for step in range(1500):
    with torch.no_grad():
        action = actor(torch.from_numpy(obs)).numpy() + 0.2 * rng.standard_normal(1)
    action = np.clip(action, -1.0, 1.0).astype(np.float32)
    obs2, reward, terminated, truncated, _ = env.step(2.0 * action)
    i = count % size
    buf["s"][i], buf["a"][i], buf["r"][i], buf["s2"][i], buf["end"][i] = obs, action, reward / 10, obs2, terminated
    count += 1
    obs = obs2
    if count < 200:
        continue
    idx = rng.integers(0, min(count, size), batch_size)
    s, a, r, s2, end = (torch.from_numpy(buf[k][idx]) for k in ("s", "a", "r", "s2", "end"))
    with torch.no_grad():
        y = r + gamma * (1 - end) * critic_target(torch.cat([s2, actor_target(s2)], 1))
    critic_loss = ((critic(torch.cat([s, a], 1)) - y) ** 2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    with torch.no_grad():
        for net, tgt in ((actor, actor_target), (critic, critic_target)):
            for p, q in zip(net.parameters(), tgt.parameters()):
                q.mul_(1 - tau).add_(tau * p)
