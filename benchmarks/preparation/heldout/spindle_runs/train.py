"""Tool wear stage (0 fresh, 1 used, 2 worn) from spindle vibration, one CSV per run.

wear_stage.txt holds one stage per line, first line is run 1.
"""
import glob
import os
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
np.random.seed(3)

RUN_DIR = "runs"
EPOCHS = 40


def read_run(path):
    sig = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.float32)
    sig -= sig.mean(axis=0, keepdims=True)
    return sig.T


def load_all():
    files = sorted(glob.glob(os.path.join(RUN_DIR, "run_*.csv")))
    signals = np.stack([read_run(f) for f in files])
    stages = np.loadtxt("wear_stage.txt", dtype=np.int64)
    assert len(signals) == len(stages), (len(signals), len(stages))
    print(f"{len(files)} runs, stages {np.bincount(stages)}")
    return signals, stages


class WearNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(3, 16, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 24, 7, padding=3), nn.ReLU(), nn.AdaptiveMaxPool1d(4))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(96, 3))

    def forward(self, x):
        return self.head(self.body(x))


def main():
    x, y = load_all()
    order = np.random.permutation(len(x))
    cut = int(0.75 * len(x))
    tr, te = order[:cut], order[cut:]
    scale = x[tr].std()
    x = torch.from_numpy(x / scale)
    y = torch.from_numpy(y)
    loader = DataLoader(TensorDataset(x[tr], y[tr]), batch_size=32, shuffle=True)

    net = WearNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    lossf = nn.CrossEntropyLoss()
    for ep in range(1, EPOCHS + 1):
        net.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = lossf(net(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if ep % 10 == 0:
            print(f"epoch {ep:3d}  loss {total / len(tr):.4f}")

    net.eval()
    with torch.no_grad():
        hit = (net(x[te]).argmax(1) == y[te]).float().mean().item()
    print(f"test accuracy {hit:.3f}")


if __name__ == "__main__":
    main()
