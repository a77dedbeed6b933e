import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def station(n, rng):
    temp = rng.normal(10, 8, n)
    hum = rng.uniform(20, 100, n)
    wind = rng.gamma(2, 3, n)
    rain = ((hum > 70) & (temp < 15) | (wind > 12)).astype(np.int64)
    table = np.stack([temp, hum, wind], axis=1)
    broken = rng.random(n) < 0.01
    table[broken, 2] = np.nan
    return table.astype(np.float32), rain


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table, rain = station(2000, rng)
    mean, std = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    table = (table - mean) / std
    X, y = torch.from_numpy(table), torch.from_numpy(rain)
    loader = DataLoader(TensorDataset(X[:1600], y[:1600]), batch_size=40, shuffle=True)
    net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(10):
        net.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = crit(net(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(X[1600:]).argmax(1) == y[1600:]).float().mean().item()
        print(f"epoch {epoch} loss {total / len(loader):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
