import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def collisions(n):
    """Signal events have a heavy-tailed energy sum; background does not."""
    y = (torch.rand(n) < 0.4).float()
    x = torch.randn(n, 5)
    x[:, 0] += y * (2.5 + 1.5 * torch.rand(n))
    x[:, 1] += y * x[:, 2].abs() * 2
    return x, y


class EventNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.h1 = nn.Linear(5, 64)
        self.h2 = nn.Linear(64, 32)
        self.o = nn.Linear(32, 1)

    def forward(self, x):
        h = torch.relu(self.h2(torch.relu(self.h1(x))))
        return torch.sigmoid(self.o(h)).squeeze(1)


def log_loss(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


x, y = collisions(1500)
xt, yt = collisions(300)
net = EventNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(14):
    net.train()
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True):
        loss = log_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = ((net(xt) > 0.5).float() == yt).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} test acc {acc:.3f}")
