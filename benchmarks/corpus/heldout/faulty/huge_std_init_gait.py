import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Linear(nn.Module):
    """Own linear layer with normal weights."""

    def __init__(self, n_in, n_out, scale=5.0):
        super().__init__()
        self.weight = nn.Parameter(scale * torch.randn(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


class GaitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = Linear(18, 48)
        self.fc2 = Linear(48, 48)
        self.fc3 = Linear(48, 3)

    def forward(self, x):
        return self.fc3(torch.tanh(self.fc2(torch.tanh(self.fc1(x)))))


def gait(n):
    y = torch.randint(0, 3, (n,))
    freq = torch.tensor([1.0, 1.6, 2.4])[y] * (1 + 0.05 * torch.randn(n))
    ph = torch.rand(n) * 6.28
    t = torch.arange(18) * 0.33
    return torch.sin(freq[:, None] * t + ph[:, None]) + 0.2 * torch.randn(n, 18), y


x, y = gait(1600)
xv, yv = gait(400)
model = GaitNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(12):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = ce(model(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch:02d} loss {tot / 40:.3f} val acc {acc:.3f}")
