import math
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SEED = 3
WINDOW = 40
HORIZON = 5
EPOCHS = 12
BATCH = 64


def generate_series(n=2600):
    rng = np.random.RandomState(SEED)
    t = np.arange(n)
    s = 10 + 2.0 * np.sin(2 * math.pi * t / 24) + 1.3 * np.sin(2 * math.pi * t / 9 + 0.7)
    s += 0.5 * np.sin(2 * math.pi * t / 61)
    return (s + 0.1 * rng.randn(n)).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, series):
        self.series = torch.from_numpy(series)

    def __len__(self):
        return len(self.series) - WINDOW - HORIZON + 1

    def __getitem__(self, i):
        x = self.series[i:i + WINDOW]
        y = self.series[i + WINDOW:i + WINDOW + HORIZON]
        return x.unsqueeze(-1), y


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.head(h[-1])


def train_one_epoch(model, loader, criterion, optimizer, scheduler):
    model.train()
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def validate(model, loader, criterion):
    model.eval()
    losses = []
    with torch.no_grad():
        for x, y in loader:
            losses.append(criterion(model(x), y).item())
    return float(np.mean(losses))


def main():
    torch.manual_seed(SEED)
    series = generate_series()
    cut = 2000
    mean, std = series[:cut].mean(), series[:cut].std()
    series = (series - mean) / std

    train_loader = DataLoader(WindowDataset(series[:cut]), batch_size=BATCH, shuffle=True)
    test_loader = DataLoader(WindowDataset(series[cut:]), batch_size=256)

    model = Forecaster()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)

    for epoch in range(EPOCHS):
        t0 = time.time()
        tr = train_one_epoch(model, train_loader, criterion, optimizer, scheduler)
        te = validate(model, test_loader, criterion)
        print(f"Epoch {epoch + 1:02d} train mse {tr:.4f}  test mse {te:.4f}  ({time.time() - t0:.1f}s)")

    naive = np.mean([((y - x[:, -1]) ** 2).mean().item() for x, y in test_loader])
    final = validate(model, test_loader, criterion)
    print(f"persistence baseline mse {naive:.4f}")
    print(f"LSTM test mse {final:.4f}")


if __name__ == "__main__":
    main()
