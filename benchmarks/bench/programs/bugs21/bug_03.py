import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def customers(n):
    x = torch.randn(n, 8)
    spend = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2]) + 0.3 * torch.randn(n)
    return x, spend


net = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)
mse = nn.MSELoss()
x, y = customers(2000)
xt, yt = customers(500)
loader = DataLoader(TensorDataset(x, y), batch_size=25, shuffle=True)
for epoch in range(4):
    net.train()
    s = 0.0
    for xb, yb in loader:
        def closure():
            optimizer.zero_grad()
            loss = mse(net(xb).squeeze(1), yb)
            loss.backward()
            return loss

        s += optimizer.step(closure).item()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} train {s / len(loader):.4f} test {mse(net(xt).squeeze(1), yt).item():.4f}")
