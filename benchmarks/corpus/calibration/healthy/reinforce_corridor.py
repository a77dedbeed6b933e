"""REINFORCE with a moving baseline on a small corridor with a goal and a cliff."""
import os
import random

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """States 0..8, start near the middle; 8 is the goal (+1), 0 the cliff (-1), each move costs 0.02."""

    size = 9

    def reset(self):
        self.s = random.randint(3, 5)
        self.t = 0
        return self.obs()

    def obs(self):
        v = torch.zeros(self.size)
        v[self.s] = 1.0
        return v

    def step(self, action):
        move = 1 if action == 1 else -1
        if random.random() < 0.1:
            move = -move
        self.s += move
        self.t += 1
        done = self.s in (0, 8) or self.t >= 40
        reward = -0.02 + (1.0 if self.s == 8 else 0.0) - (1.0 if self.s == 0 else 0.0)
        return self.obs(), reward, done


seed = int(os.environ.get("SEED", "0"))
random.seed(seed)
torch.manual_seed(seed)

env = Corridor()
policy = nn.Sequential(nn.Linear(Corridor.size, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
gamma, baseline = 0.98, 0.0
history = []

for update in range(150):
    losses = []
    for _ in range(4):
        obs, done = env.reset(), False
        logps, rewards = [], []
        while not done:
            dist = Categorical(logits=policy(obs))
            action = dist.sample()
            logps.append(dist.log_prob(action))
            obs, r, done = env.step(action.item())
            rewards.append(r)
        g, returns = 0.0, []
        for r in reversed(rewards):
            g = r + gamma * g
            returns.insert(0, g)
        history.append(sum(rewards))
        adv = torch.tensor(returns) - baseline
        baseline = 0.95 * baseline + 0.05 * returns[0]
        losses.append(-(torch.stack(logps) * adv).sum())
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (update + 1) % 25 == 0:
        print(f"update {update + 1}: mean return of last 50 episodes {sum(history[-50:]) / 50:.3f}")
