"""One-step-ahead forecast of a seasonal series with an LSTM, chronological split."""
import argparse
import os

import numpy as np
import torch
from torch import nn


def make_series(n, rng):
    t = np.arange(n)
    s = 20 + 5 * np.sin(2 * np.pi * t / 24) + 2.5 * np.sin(2 * np.pi * t / 168) + 0.002 * t
    ar = np.zeros(n)
    for i in range(1, n):
        ar[i] = 0.7 * ar[i - 1] + rng.normal(0, 0.35)
    return s + ar


def windows(series, lookback):
    x = np.lib.stride_tricks.sliding_window_view(series, lookback + 1)
    return (
        torch.tensor(x[:, :-1].copy(), dtype=torch.float32).unsqueeze(-1),
        torch.tensor(x[:, -1].copy(), dtype=torch.float32).unsqueeze(-1),
    )


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.readout(out[:, -1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lookback", type=int, default=24)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
    opts = parser.parse_args()

    torch.manual_seed(opts.seed)
    series = make_series(1500, np.random.default_rng(opts.seed))
    cut = 1200
    mean, std = series[:cut].mean(), series[:cut].std()
    z = (series - mean) / std
    x_train, y_train = windows(z[:cut], opts.lookback)
    x_test, y_test = windows(z[cut - opts.lookback :], opts.lookback)

    model = Forecaster(opts.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.4)
    mse = nn.MSELoss()

    for epoch in range(opts.epochs):
        model.train()
        for idx in torch.randperm(len(x_train)).split(64):
            optimizer.zero_grad()
            loss = mse(model(x_train[idx]), y_train[idx])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            test = mse(model(x_test), y_test).item()
        print(f"epoch {epoch + 1:2d}: train batch {loss.item():.4f} test {test:.4f}")

    naive = ((x_test[:, -1] - y_test) ** 2).mean().item()
    print(f"test RMSE {std * test ** 0.5:.3f}, persistence RMSE {std * naive ** 0.5:.3f}")


if __name__ == "__main__":
    main()
