import os

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)
env = gym.make("CartPole-v1")
gamma = 0.99


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.affine2 = nn.Linear(64, 2)

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.affine1(x))), dim=-1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)

running = 10.0
for episode in range(90):
    state, _ = env.reset(seed=seed if episode == 0 else None)
    log_probs, rewards = [], []
    for t in range(500):
        probs = policy(torch.from_numpy(state).float().unsqueeze(0))
        m = Categorical(probs)
        action = m.sample()
        log_probs.append(m.log_prob(action))
        state, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        if terminated or truncated:
            break
    R = 0.0
    returns = []
    for r in rewards:
        R = r + gamma * R
        returns.append(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.cat(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * len(rewards)
    if episode % 30 == 29:
        print(f"episode {episode + 1}\taverage length {running:.1f}")
