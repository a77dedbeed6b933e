import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Forecaster(nn.Module):
    def __init__(self, lag=16):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 5)
        self.fc = nn.Linear(12 * (lag - 4), 1)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1)).squeeze(1)


def make_series(n=1600, lag=16):
    t = torch.arange(n + lag).float()
    s = torch.sin(0.3 * t) + 0.5 * torch.sin(0.11 * t + 1) * torch.sign(torch.sin(0.05 * t)) + 0.05 * torch.randn(n + lag)
    win = s.unfold(0, lag + 1, 1)
    return win[:, :lag].unsqueeze(1), win[:, lag]


x, y = make_series()
cut = 1200
loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=30, shuffle=True)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
mse = nn.MSELoss()
for epoch in range(8):
    model.train()
    tot = 0.0
    for xb, yb in loader:
        loss = mse(model(xb), yb)
        loss.backward()
        opt.zero_grad()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        v = mse(model(x[cut:]), y[cut:]).item()
    print(f"epoch {epoch} train {tot / len(loader):.4f} val {v:.4f}")
