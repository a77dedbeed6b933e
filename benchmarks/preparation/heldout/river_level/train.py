import argparse
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class GaugeWindows(Dataset):
    """history of all columns up to now, and the value to be foretold"""

    def __init__(self, frame, columns, history):
        self.values = torch.tensor(frame[columns].to_numpy(np.float32))
        self.target = torch.tensor(frame["target"].to_numpy(np.float32))
        self.history = history

    def __len__(self):
        return len(self.values) - self.history + 1

    def __getitem__(self, i):
        end = i + self.history
        return self.values[i:end], self.target[end - 1]


class FloodLSTM(nn.Module):
    def __init__(self, n_in, hidden=24):
        super().__init__()
        self.rnn = nn.LSTM(n_in, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


def main():
    ap = argparse.ArgumentParser(description="river level some hours ahead")
    ap.add_argument("--horizon", type=int, default=10)
    ap.add_argument("--history", type=int, default=18)
    ap.add_argument("--epochs", type=int, default=4)
    opt = ap.parse_args()
    torch.manual_seed(31)

    df = pd.read_csv("gauge.csv", index_col="hour")
    cols = ["rain_mm", "upstream_m", "level_m"]
    df["rain_mm"] = np.log1p(df["rain_mm"])
    df["target"] = df["level_m"].shift(opt.horizon)
    df = df.dropna()

    n_train = int(0.7 * len(df))
    mean, std = df.iloc[:n_train].mean(), df.iloc[:n_train].std()
    z = (df - mean) / std
    train = GaugeWindows(z.iloc[:n_train], cols, opt.history)
    test = GaugeWindows(z.iloc[n_train + opt.horizon:], cols, opt.history)
    print(f"windows: {len(train)} train, {len(test)} test, horizon {opt.horizon} h")

    model = FloodLSTM(len(cols))
    optim = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(opt.epochs):
        total = 0.0
        for x, y in DataLoader(train, batch_size=64, shuffle=True):
            loss = nn.functional.mse_loss(model(x), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch + 1} mse {total / len(train):.4f}")

    model.eval()
    preds, truth = [], []
    with torch.no_grad():
        for x, y in DataLoader(test, batch_size=256):
            preds.append(model(x))
            truth.append(y)
    p, t = torch.cat(preds), torch.cat(truth)
    nse = 1 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()
    print(f"test MAE {(p - t).abs().mean().item() * std['target']:.3f} m")
    print(f"test Nash-Sutcliffe {nse.item():.3f}")


if __name__ == "__main__":
    main()
