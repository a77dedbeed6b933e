import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-4)
for step in range(1000):
    real, fake = torch.randn(64, 2) + 2, torch.randn(64, 2)
    opt.zero_grad()
    loss = critic(fake).mean() - critic(real).mean()
    loss.backward()
    opt.step()
