import os
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.RandomState(seed)
torch.manual_seed(seed)


def shops(n):
    f = rng.randn(n, 6)
    profit = 1.2 * f[:, 0] - 0.8 * f[:, 1] * f[:, 2] + 0.5 * np.sin(2 * f[:, 3]) - 0.5
    return f.astype("float32"), profit.astype("float32")


class ProfitNet(nn.Module):
    def __init__(self, units=(6, 48, 24, 1)):
        super().__init__()
        self.fcs = nn.ModuleList(nn.Linear(a, b) for a, b in zip(units[:-1], units[1:]))

    def forward(self, x):
        for fc in self.fcs:
            x = torch.relu(fc(x))
        return x


f, p = shops(2000)
x, y = torch.from_numpy(f), torch.from_numpy(p)[:, None]
xtr, ytr, xte, yte = x[:1600], y[:1600], x[1600:], y[1600:]
net = ProfitNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    net.train()
    for b in torch.randperm(1600).split(40):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(xtr[b]), ytr[b])
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad():
            r2 = 1 - nn.functional.mse_loss(net(xte), yte) / yte.var()
        print(f"epoch {epoch + 1} train mse {loss.item():.3f} test R2 {r2.item():.3f}")
