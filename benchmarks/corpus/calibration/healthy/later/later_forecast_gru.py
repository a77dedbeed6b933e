import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 24


def make_series(n=1800, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    s = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 7 + 1) + 0.2 * np.cos(2 * np.pi * t / 168)
    return (s + rng.normal(0, 0.08, n)).astype(np.float32)


def windows(series):
    X = np.stack([series[i:i + WINDOW] for i in range(len(series) - WINDOW)])
    y = series[WINDOW:]
    return torch.from_numpy(X).unsqueeze(-1), torch.from_numpy(y)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.lin = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.lin(h[-1]).squeeze(-1)


def train_one_epoch(model, loader, optimizer, scheduler, loss_fn):
    model.train()
    total, n = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(yb)
        n += len(yb)
    scheduler.step()
    return total / n


@torch.no_grad()
def evaluate(model, X, y):
    model.eval()
    return (model(X) - y).pow(2).mean().sqrt().item()


def main():
    torch.manual_seed(0)
    series = make_series()
    mean, std = series[:1400].mean(), series[:1400].std()
    series = (series - mean) / std
    Xtr, ytr = windows(series[:1400])
    Xte, yte = windows(series[1400:])
    loader = DataLoader(TensorDataset(Xtr, ytr), batch_size=32, shuffle=True)

    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = StepLR(optimizer, step_size=4, gamma=0.5)
    loss_fn = nn.MSELoss()
    for epoch in range(12):
        tr = train_one_epoch(model, loader, optimizer, scheduler, loss_fn)
        print(f"epoch {epoch + 1:2d}  train mse {tr:.4f}  test rmse {evaluate(model, Xte, yte):.4f}")
    print(f"done, test rmse = {evaluate(model, Xte, yte):.4f}")


if __name__ == "__main__":
    main()
