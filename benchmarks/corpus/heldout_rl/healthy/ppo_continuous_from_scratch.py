import os

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
env = gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)
env = gym.wrappers.TransformReward(env, lambda r: r / 8.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean, self.value = nn.Linear(64, 1), nn.Linear(64, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


net = Net()
opt = optim.Adam(net.parameters(), lr=1e-3)
gamma, lam, horizon = 0.9, 0.95, 400
state, _ = env.reset(seed=seed)
for update in range(10):
    S, A, R, V, L, boundary, following = [], [], [], [], [], [], []
    for t in range(horizon):
        x = torch.as_tensor(state, dtype=torch.float32)
        with torch.no_grad():
            dist, v = net(x)
            a = dist.sample()
            lp = dist.log_prob(a).sum()
        state, r, terminated, truncated, _ = env.step(a.clamp(-1, 1).numpy())
        with torch.no_grad():
            v_next = 0.0 if terminated else float(net(torch.as_tensor(state, dtype=torch.float32))[1])
        S.append(x); A.append(a); R.append(float(r)); V.append(float(v)); L.append(lp)
        following.append(v_next)
        boundary.append(terminated or truncated)
        if terminated or truncated:
            state, _ = env.reset()
    adv, running = np.zeros(horizon, np.float32), 0.0
    for t in reversed(range(horizon)):
        delta = R[t] + gamma * following[t] - V[t]
        running = delta + gamma * lam * running * (0.0 if boundary[t] else 1.0)
        adv[t] = running
    adv = torch.from_numpy(adv)
    ret = adv + torch.tensor(V)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    S, A, L = torch.stack(S), torch.stack(A), torch.stack(L)
    for epoch in range(6):
        for idx in torch.randperm(horizon).split(100):
            dist, value = net(S[idx])
            ratio = (dist.log_prob(A[idx]).sum(-1) - L[idx]).exp()
            policy_loss = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            loss = policy_loss + 0.5 * (value - ret[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
