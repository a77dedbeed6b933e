import os
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Surrogate(nn.Module):
    """Surrogate for a 4-parameter simulator with 3 outputs."""

    def __init__(self, width=64):
        super().__init__()
        self.fc1 = nn.Linear(4, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 3)

    def forward(self, p):
        h = F.softmax(self.fc1(p), dim=-1)
        h = F.softmax(self.fc2(h), dim=-1)
        return self.fc3(h)


def simulator(n):
    p = torch.rand(n, 4) * 2 - 1
    out = torch.stack([torch.sin(3 * p[:, 0]) * p[:, 1], torch.exp(-4 * p[:, 2] ** 2) - 0.5, p[:, 3] * p[:, 0] + 0.5 * p[:, 1]], 1)
    return p, out


train_p, train_o = simulator(2000)
test_p, test_o = simulator(500)
net = Surrogate()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(15):
    net.train()
    for idx in torch.randperm(2000).split(64):
        opt.zero_grad()
        loss = F.mse_loss(net(train_p[idx]), train_o[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        t = F.mse_loss(net(test_p), test_o).item()
    print(f"epoch {epoch:2d} train {loss.item():.4f} test {t:.4f}")
