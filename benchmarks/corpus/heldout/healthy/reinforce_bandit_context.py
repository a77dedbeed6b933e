"""REINFORCE with baseline on short corridor episodes."""
import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

LENGTH = 7      # corridor cells, the key colour tells at which end the door is
MAX_T = 12


def run_episodes(policy, n):
    pos = torch.full((n,), LENGTH // 2)
    key = torch.randint(0, 2, (n,))
    alive = torch.ones(n, dtype=torch.bool)
    total_reward = torch.zeros(n)
    logps, entropies = [], []
    for _ in range(MAX_T):
        obs = torch.cat([F.one_hot(pos, LENGTH), F.one_hot(key, 2)], 1).float()
        logits = policy(obs)
        dist = torch.distributions.Categorical(logits=logits)
        a = dist.sample()
        logps.append(dist.log_prob(a) * alive)
        entropies.append(dist.entropy() * alive)
        pos = torch.where(alive, (pos + 2 * a - 1).clamp(0, LENGTH - 1), pos)
        total_reward += -0.05 * alive
        at_end = alive & ((pos == 0) | (pos == LENGTH - 1))
        right_end = (pos == LENGTH - 1).long() == key
        total_reward += at_end * torch.where(right_end, 1.0, -1.0)
        alive = alive & ~at_end
    return torch.stack(logps).sum(0), torch.stack(entropies).mean(), total_reward


policy = nn.Sequential(nn.Linear(LENGTH + 2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
baseline = 0.0
for it in range(1, 201):
    logp, ent, reward = run_episodes(policy, 64)
    advantage = reward - baseline
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    loss = -(logp * advantage).mean() - 0.01 * ent
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 25 == 0:
        print("iter", it, "mean reward", round(reward.mean().item(), 3), "entropy", round(ent.item(), 3))
