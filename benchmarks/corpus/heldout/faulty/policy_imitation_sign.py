import os
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(int(os.environ.get("SEED", "0")))


def expert(n):
    """Expert drives towards a goal; 4 moves."""
    rel = torch.randn(n, 2)
    wind = torch.randn(n, 1)
    eff = rel[:, 0] + 0.5 * wind[:, 0]
    act = torch.where(eff.abs() > rel[:, 1].abs(), (eff > 0).long(), 2 + (rel[:, 1] > 0).long())
    return torch.cat([rel, wind], 1), act


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 4))

    def forward(self, s):
        return Categorical(logits=self.net(s))


def imitation_loss(dist, action):
    return dist.log_prob(action).mean()


s, a = expert(1600)
sv, av = expert(400)
policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
for epoch in range(10):
    policy.train()
    for b in torch.randperm(len(s)).split(40):
        loss = imitation_loss(policy(s[b]), a[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    policy.eval()
    with torch.no_grad():
        agree = (policy(sv).probs.argmax(1) == av).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} agreement {agree:.3f}")
