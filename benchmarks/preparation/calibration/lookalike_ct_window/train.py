"""Bleeding on head CT. Slices are stored as HU + 1024 in 16 bit; the net sees the brain window
(level 40, width 80) in 8 bit, the way the films are read on the ward."""
import cv2
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

LEVEL, WIDTH = 40, 80


def window(raw):
    hu = raw.astype(np.int32) - 1024
    lo = LEVEL - WIDTH // 2
    hu = np.clip(hu, lo, lo + WIDTH)
    return ((hu - lo) * 255 // WIDTH).astype(np.uint8)


def load(part, table=pd.read_csv("slices.csv")):
    t = table[table.part == part]
    x = np.stack([window(cv2.imread(f"slices/{s}", cv2.IMREAD_UNCHANGED)) for s in t["slice"]])
    return torch.from_numpy(x).float()[:, None] / 255, torch.tensor(t.haemorrhage.values).float()


def main():
    torch.manual_seed(13)
    x, y = load("train")
    xt, yt = load("test")
    print("mean grey value", round(x.mean().item(), 3), "shares of bleeding", y.mean().item(), yt.mean().item())
    net = nn.Sequential(nn.Conv2d(1, 12, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(),
                        nn.Linear(96, 1))
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for ep in range(20):
        cost = 0.0
        for b in torch.randperm(len(x)).split(21):
            loss = nn.functional.binary_cross_entropy_with_logits(net(x[b]).squeeze(1), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            cost += loss.item() * len(b)
        if ep % 5 == 4:
            print(f"epoch {ep + 1}: {cost / len(x):.4f}")
    with torch.no_grad():
        p = net(xt).squeeze(1).sigmoid()
    print(f"test AUC {roc_auc_score(yt, p):.3f}  accuracy {((p > 0.5) == yt.bool()).float().mean():.3f}")


if __name__ == "__main__":
    main()
