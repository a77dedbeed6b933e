import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def panels(n):
    x = torch.randn(n, 6)
    y = 1.5 * torch.tanh(x[:, 0] + x[:, 1]) + 0.7 * x[:, 2] * x[:, 3] - 0.4 * x[:, 4]
    return x, y + 0.05 * torch.randn(n)


class YieldTrainer:
    def __init__(self, hidden=48, lr=3e-3):
        self.net = nn.Sequential(nn.Linear(6, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, 1))
        self.loss = nn.MSELoss()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def step(self, xb, yb):
        self.opt.zero_grad()
        out = self.net(xb)
        loss = self.loss(out, yb)
        loss.backward()
        self.opt.step()
        return loss.item()

    def r2(self, x, y):
        self.net.eval()
        with torch.no_grad():
            res = y - self.net(x).squeeze(1)
        self.net.train()
        return 1 - (res.var() / y.var()).item()


trainer = YieldTrainer()
x, y = panels(2000)
xt, yt = panels(500)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
for epoch in range(12):
    losses = [trainer.step(xb, yb) for xb, yb in loader]
    print(f"epoch {epoch} mse {sum(losses) / len(losses):.4f} test R2 {trainer.r2(xt, yt):.3f}")
