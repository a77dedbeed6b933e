import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class TeeNet(nn.Module):
    def __init__(self, n_in=2, width=32, depth=3):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer in self.hidden:
            x = torch.tanh(2 * layer(x))
        return self.last(x)


def franke(n):
    p = torch.rand(n, 2)
    u, v = 9 * p[:, :1], 9 * p[:, 1:]
    z = 0.75 * torch.exp(-((u - 2) ** 2 + (v - 2) ** 2) / 4) + 0.5 * torch.exp(-((u - 7) ** 2 + (v - 3) ** 2) / 4) - 0.6 * torch.exp(-((u - 4) ** 2 + (v - 7) ** 2))
    return (p - 0.5) * 4, 3 * z


x, z = franke(2000)
xt, zt = franke(500)
net = TeeNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.MSELoss()
for epoch in range(12):
    net.train()
    s = 0.0
    for b in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = loss_fn(net(x[b]), z[b])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} train {s / 40:.4f} test {loss_fn(net(xt), zt).item():.4f}")
