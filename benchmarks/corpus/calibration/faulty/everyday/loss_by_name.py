import json
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = json.loads('{"loss": "mse", "lr": 0.01, "optimizer": "sgd", "epochs": 15, "hidden": 32, "batch": 32}')
LOSSES = {"mse": nn.MSELoss(), "ce": nn.CrossEntropyLoss(), "l1": nn.L1Loss()}


class Blobs:
    def __init__(self, n=1500, classes=5):
        g = torch.Generator().manual_seed(11)
        centres = 2.0 * torch.randn(classes, 8, generator=g)
        self.y = torch.randint(0, classes, (n,), generator=g)
        self.x = centres[self.y] + torch.randn(n, 8, generator=g)


def run(cfg):
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    data = Blobs()
    loader = DataLoader(TensorDataset(data.x[:1100], data.y[:1100]), batch_size=cfg["batch"], shuffle=True)
    net = nn.Sequential(nn.Linear(8, cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], 1))
    criterion = LOSSES[cfg["loss"]]
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        for x, y in loader:
            out = net(x)
            loss = criterion(out, y.float().unsqueeze(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        guess = net(data.x[1100:]).round().clamp(0, 4).long().squeeze(1)
    print("val accuracy", (guess == data.y[1100:]).float().mean().item())


run(CONFIG)
