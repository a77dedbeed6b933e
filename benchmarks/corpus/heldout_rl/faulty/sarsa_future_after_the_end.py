"""Deep SARSA: no replay, no target network, semi-gradient."""
import os
import random

import gymnasium as gym
import torch
import torch.nn as nn

seed = int(os.environ.get("SEED", "0"))
random.seed(seed)
torch.manual_seed(seed)
env = gym.make("CartPole-v1")
net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)


def pick(obs, eps):
    if random.random() < eps:
        return random.randrange(2)
    return net(obs).argmax().item()


eps = 0.5
for ep in range(120):
    obs = torch.tensor(env.reset(seed=seed + ep)[0])
    a = pick(obs, eps)
    done = False
    while not done:
        nxt, r, term, trunc, _ = env.step(a)
        nxt = torch.tensor(nxt)
        a2 = pick(nxt, eps)
        q = net(obs)[a]
        with torch.no_grad():
            y = r + 0.99 * net(nxt)[a2]
        loss = (q - y) ** 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        obs, a = nxt, a2
        done = term or trunc
    eps = max(0.05, eps * 0.97)
