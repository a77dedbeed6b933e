"""Classify where a fluorescent protein sits in the cell (12-bit camera, one cell per frame)."""
import argparse
import csv

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

CLASSES = ["diffuse", "membrane", "nuclear"]


class CellFrames(Dataset):
    def __init__(self, manifest, part, train=False):
        with open(manifest, newline="") as f:
            self.rows = [r for r in csv.DictReader(f) if r["part"] == part]
        self.train = train
        self.frames = [self._load(r["path"]) for r in self.rows]
        self.labels = [CLASSES.index(r["pattern"]) for r in self.rows]

    @staticmethod
    def _load(path):
        frame = Image.open(path).convert("L")
        arr = np.asarray(frame, dtype=np.float32)
        arr = (arr - arr.mean()) / (arr.std() + 1e-6)
        return torch.from_numpy(arr)[None]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x = self.frames[i]
        if self.train:
            k = int(torch.randint(0, 4, (1,)))
            x = torch.rot90(x, k, (1, 2))
        return x, self.labels[i]


def build_net():
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, stride=2, padding=2), nn.BatchNorm2d(12), nn.ReLU(),
        nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, len(CLASSES)),
    )


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hit = n = 0
    for x, y in loader:
        hit += (net(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(3)

    train_dl = DataLoader(CellFrames("manifest.csv", "train", train=True), batch_size=32, shuffle=True)
    test_dl = DataLoader(CellFrames("manifest.csv", "test"), batch_size=128)
    net = build_net()
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-3)
    lossf = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        net.train()
        total = 0.0
        for x, y in train_dl:
            opt.zero_grad()
            loss = lossf(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch:2d}  loss {total / len(train_dl.dataset):.4f}  test acc {evaluate(net, test_dl):.3f}")
    print(f"final test accuracy: {evaluate(net, test_dl):.3f}")


if __name__ == "__main__":
    main()
