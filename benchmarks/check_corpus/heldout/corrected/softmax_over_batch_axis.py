import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_actions))

    def forward(self, obs):
        return F.log_softmax(self.net(obs), dim=1)


policy = Policy(8, 4)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
obs, action = torch.randn(512, 8), torch.randint(0, 4, (512,))
for b in torch.randperm(512).split(64):
    optimizer.zero_grad()
    loss = F.nll_loss(policy(obs[b]), action[b])
    loss.backward()
    optimizer.step()
