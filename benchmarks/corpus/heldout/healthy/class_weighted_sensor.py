"""Fault detection on sensor windows: 3 classes, very uneven; inverse-frequency weights and balanced accuracy."""
import math
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
CLASSES = ["normal", "imbalance", "bearing"]
PRIOR = torch.tensor([0.85, 0.10, 0.05])
T = 64


def windows(n):
    y = torch.multinomial(PRIOR, n, replacement=True)
    t = torch.arange(T) / T
    ph = torch.rand(n, 1) * 2 * math.pi
    sig = torch.sin(2 * math.pi * 4 * t + ph) + 0.4 * torch.randn(n, T)
    sig = sig + (y == 1).float()[:, None] * 0.9 * torch.sin(2 * math.pi * 8 * t + 2 * ph)
    burst = (torch.rand(n, T) < 0.08).float() * torch.randn(n, T) * 3
    sig = sig + (y == 2).float()[:, None] * burst
    return sig.unsqueeze(1), y


x_train, y_train = windows(2500)
x_val, y_val = windows(1500)

freq = torch.bincount(y_train, minlength=3).float() / len(y_train)
weights = (1.0 / freq) / (1.0 / freq).mean()
print("class frequencies", freq.tolist())

model = nn.Sequential(
    nn.Conv1d(1, 16, 7, padding=3), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(16, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
    nn.AdaptiveMaxPool1d(1), nn.Flatten(),
    nn.Linear(32, 3),
)
criterion = nn.CrossEntropyLoss(weight=weights)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def balanced_accuracy():
    model.eval()
    with torch.no_grad():
        pred = model(x_val).argmax(1)
    return [((pred == k) & (y_val == k)).sum().item() / (y_val == k).sum().item() for k in range(3)]


BATCH = 100
for epoch in range(8):
    model.train()
    perm = torch.randperm(len(x_train))
    total = 0.0
    for chunk in perm.split(BATCH):
        opt.zero_grad()
        loss = criterion(model(x_train[chunk]), y_train[chunk])
        loss.backward()
        opt.step()
        total += loss.item()
    rec = balanced_accuracy()
    print(f"epoch {epoch + 1} loss {total / 25:.4f} recall " + " ".join(f"{c}={r:.2f}" for c, r in zip(CLASSES, rec)))
print("balanced accuracy", round(sum(rec) / 3, 3))
