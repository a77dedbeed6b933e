"""Sort parcels on the belt into height classes from single depth frames."""
import argparse
import csv
import logging
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger("parcels")
CLASSES = ["flat", "low", "mid", "tall"]


class ParcelFrames(Dataset):
    def __init__(self, table, folder, part):
        with open(table, newline="") as fh:
            self.rows = [r for r in csv.DictReader(fh) if r["part"] == part]
        self.folder = Path(folder)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        frame = Image.open(self.folder / row["frame"]).convert("L")
        x = torch.from_numpy(np.array(frame, dtype=np.float32)) / 255.0
        return x.unsqueeze(0), CLASSES.index(row["class"])


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(2))
        self.head = nn.Linear(32 * 4, n)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def accuracy(net, loader):
    net.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (net(x).argmax(1) == y).sum().item()
            n += len(y)
    return hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(3)
    train = DataLoader(ParcelFrames("parcels.csv", "frames", "train"), batch_size=32, shuffle=True)
    test = DataLoader(ParcelFrames("parcels.csv", "frames", "test"), batch_size=64)
    net = Net(len(CLASSES))
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    lossf = nn.CrossEntropyLoss()
    for ep in range(args.epochs):
        net.train()
        total = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = lossf(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        print(f"epoch {ep} loss {total / len(train.dataset):.4f}")
    print(f"test accuracy {accuracy(net, test):.3f}")


if __name__ == "__main__":
    main()
