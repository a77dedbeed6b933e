import os
import random

import numpy as np
import torch
import torch.nn as nn

SEED = int(os.environ.get("SEED", 0))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

config = {"hidden": 32, "batch": 40, "epochs": 12, "lr": 0.5}


def make_walks(n, length=16):
    x = torch.randn(n, length, 3) * 0.4
    y = torch.randint(0, 3, (n,))
    t = torch.arange(length).float()
    for gait, period in enumerate((2.5, 4.0, 8.0)):
        rows = y == gait
        phase = torch.rand(int(rows.sum()), 1) * 6.28
        x[rows, :, 0] += torch.sin(6.28 * t / period + phase)
    return x, y


class Gait(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(3, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x):
        out, _ = self.rnn(x)
        return torch.softmax(self.head(out[:, -1]), dim=-1)


train_x, train_y = make_walks(1200)
val_x, val_y = make_walks(300)
net = Gait(config["hidden"])
optim = torch.optim.Adam(net.parameters(), lr=config["lr"])
ce = nn.CrossEntropyLoss()

for epoch in range(config["epochs"]):
    net.train()
    for idx in torch.randperm(len(train_x)).split(config["batch"]):
        optim.zero_grad()
        out = net(train_x[idx])
        loss = ce(out, train_y[idx])
        loss.backward()
        optim.step()
    net.eval()
    with torch.no_grad():
        acc = (net(val_x).argmax(-1) == val_y).float().mean().item()
    print(f"epoch {epoch:2d}  train loss {loss.item():.3f}  val acc {acc:.3f}")
