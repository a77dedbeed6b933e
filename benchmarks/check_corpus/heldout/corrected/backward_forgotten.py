import torch
import torch.nn.functional as F
from torch import nn

generator = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
target = torch.randn(512, 2) * torch.tensor([2.0, 0.5])
for step in range(500):
    optimizer.zero_grad()
    sample = generator(torch.randn(512, 16))
    loss = F.mse_loss(sample.std(0), target.std(0)) + F.mse_loss(sample.mean(0), target.mean(0))
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, loss.item())
