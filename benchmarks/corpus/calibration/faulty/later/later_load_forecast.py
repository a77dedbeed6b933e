"""Forecast the next 6 values of an hourly load curve from the previous 36."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CFG = {
    "seed": 3,
    "window": 36,
    "horizon": 6,
    "d_model": 32,
    "nhead": 4,
    "layers": 2,
    "ff": 64,
    "dropout": 0.0,
    "batch_size": 64,
    "lr": 1e-3,
    "epochs": 10,
}


def make_series(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    daily = 12 * np.sin(2 * np.pi * t / 24) + 5 * np.sin(4 * np.pi * t / 24 + 0.7)
    weekly = 6 * np.sin(2 * np.pi * t / 168)
    ar = np.zeros(n)
    for i in range(1, n):
        ar[i] = 0.9 * ar[i - 1] + rng.normal(0, 0.6)
    return (80 + daily + weekly + ar).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, series, window, horizon):
        self.series = torch.as_tensor(series)
        self.window, self.horizon = window, horizon

    def __len__(self):
        return len(self.series) - self.window - self.horizon + 1

    def __getitem__(self, i):
        mid = i + self.window
        return self.series[i:mid].unsqueeze(-1), self.series[mid:mid + self.horizon]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Forecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Linear(1, cfg["d_model"])
        self.pos = PositionalEncoding(cfg["d_model"])
        layer = nn.TransformerEncoderLayer(
            cfg["d_model"], cfg["nhead"], cfg["ff"], cfg["dropout"], batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, cfg["layers"])
        self.head = nn.Linear(cfg["d_model"], cfg["horizon"])

    def forward(self, x):
        h = self.encoder(self.pos(self.embed(x)))
        return self.head(h[:, -1])


class Persistence(nn.Module):
    def forward(self, x):
        return x[:, -1]


def rmse(model, loader, scale):
    model.eval()
    se, count = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            se += ((model(x) - y) ** 2).sum().item()
            count += y.numel()
    return scale * math.sqrt(se / count)


def run(cfg):
    torch.manual_seed(cfg["seed"])
    series = make_series(3000, cfg["seed"])
    train, val, test = series[:2100], series[2100:2500], series[2500:]
    mean, std = train.mean(), train.std()
    sets = [WindowDataset((s - mean) / std, cfg["window"], cfg["horizon"]) for s in (train, val, test)]
    train_dl = DataLoader(sets[0], cfg["batch_size"], shuffle=True)
    val_dl, test_dl = (DataLoader(s, 256) for s in sets[1:])

    model = Forecaster(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=1e-4)
    loss_fn = nn.MSELoss()

    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for x, y in train_dl:
            pred = model(x)
            loss = loss_fn(pred, y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch + 1:2d}  train mse {total / len(sets[0]):.4f}  val rmse {rmse(model, val_dl, std):.3f}")

    naive_rmse = rmse(Persistence(), test_dl, std)
    print(f"test rmse {rmse(model, test_dl, std):.3f}  (persistence baseline {naive_rmse:.3f})")


if __name__ == "__main__":
    run(CFG)
