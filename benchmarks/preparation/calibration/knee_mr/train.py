"""Meniscus tear detection on single MR slices."""
import argparse

import h5py
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit


def get_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--h5", default="knees.h5")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--bs", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--val-frac", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def load(path):
    with h5py.File(path, "r") as f:
        slices = f["slices"][:].astype(np.float32) / 255.0
        tear = f["tear"][:]
        patient = f["patient"][:].astype(str)
    print(f"{len(slices)} slices of {len(np.unique(patient))} patients, {tear.mean():.0%} with tear")
    return slices[:, None], tear, patient


class SliceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 25, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.head(self.features(x))[:, 0]


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x, y, patient = load(args.h5)
    splitter = StratifiedShuffleSplit(n_splits=1, test_size=args.val_frac, random_state=args.seed)
    train_idx, val_idx = next(splitter.split(x, y))
    mean, std = x[train_idx].mean(), x[train_idx].std()
    x = torch.from_numpy((x - mean) / std)
    y = torch.from_numpy(y).float()

    net = SliceNet()
    optim = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        net.train()
        running = []
        order = np.random.default_rng(epoch).permutation(train_idx)
        for start in range(0, len(order), args.bs):
            idx = torch.from_numpy(order[start:start + args.bs])
            loss = loss_fn(net(x[idx]), y[idx])
            optim.zero_grad()
            loss.backward()
            optim.step()
            running.append(loss.item())
        net.eval()
        with torch.no_grad():
            logit = net(x[val_idx])
        acc = ((logit > 0) == (y[val_idx] > 0.5)).float().mean().item()
        print(f"epoch {epoch:02d} loss {np.mean(running):.4f} val_acc {acc:.4f} val_auc {roc_auc_score(y[val_idx], logit):.4f}")


if __name__ == "__main__":
    main()
