import os

import gymnasium
import numpy as np
import torch
from torch.distributions import Normal

torch.manual_seed(int(os.environ.get("SEED", "0")))
env = gymnasium.make("Pendulum-v1")


class GaussianPolicy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
        self.log_std = torch.nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        return Normal(self.mu(obs), self.log_std.exp())


pi = GaussianPolicy()
vf = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
pi_opt = torch.optim.Adam(pi.parameters(), lr=3e-3)
vf_opt = torch.optim.Adam(vf.parameters(), lr=1e-2)


def discount(xs, g=0.97):
    out, acc = np.zeros(len(xs), dtype=np.float32), 0.0
    for i in range(len(xs) - 1, -1, -1):
        acc = xs[i] + g * acc
        out[i] = acc
    return out


for it in range(10):
    batch_obs, batch_act, batch_ret = [], [], []
    for _ in range(2):
        o, _ = env.reset()
        rews, over = [], False
        while not over:
            with torch.no_grad():
                a = pi(torch.as_tensor(o)).sample()
            batch_obs.append(o)
            batch_act.append(a)
            o, r, term, trunc, _ = env.step(np.clip(a.numpy(), -2, 2))
            rews.append(r / 16.0)
            over = term or trunc
        batch_ret.extend(discount(rews))
    obs, act, ret = torch.as_tensor(np.array(batch_obs)), torch.stack(batch_act), torch.as_tensor(np.array(batch_ret))
    for _ in range(20):
        vf_loss = (vf(obs) - ret).pow(2).mean()
        vf_opt.zero_grad()
        vf_loss.backward()
        vf_opt.step()
    adv = (ret - vf(obs).squeeze(-1)).detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    pi_loss = -(pi(obs).log_prob(act).sum(-1) * adv).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
