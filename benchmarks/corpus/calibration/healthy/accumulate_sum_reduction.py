# Gradients of several chunks are summed (reduction="sum"); the step size is per sample.
import argparse
import os

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--chunk", type=int, default=16)
parser.add_argument("--chunks-per-update", type=int, default=4)
parser.add_argument("--lr-per-sample", type=float, default=0.03 / 64)
parser.add_argument("--updates", type=int, default=300)
opts = parser.parse_args()

torch.manual_seed(int(os.environ.get("SEED", "0")))


def rings(n):
    label = torch.randint(0, 3, (n,))
    radius = 0.5 + label.float() * 0.6 + 0.1 * torch.randn(n)
    angle = torch.rand(n) * 6.2832
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1), label


train_x, train_y = rings(2000)
test_x, test_y = rings(500)
net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(net.parameters(), lr=opts.lr_per_sample, momentum=0.9)

for update in range(1, opts.updates + 1):
    optimizer.zero_grad()
    seen, total = 0, 0.0
    for _ in range(opts.chunks_per_update):
        pick = torch.randint(0, len(train_x), (opts.chunk,))
        loss = criterion(net(train_x[pick]), train_y[pick])
        loss.backward()
        seen += opts.chunk
        total += loss.item()
    optimizer.step()
    if update % 50 == 0:
        with torch.no_grad():
            acc = (net(test_x).argmax(1) == test_y).float().mean().item()
        print(f"update {update}: loss per sample {total / seen:.4f}, test accuracy {acc:.3f}")
