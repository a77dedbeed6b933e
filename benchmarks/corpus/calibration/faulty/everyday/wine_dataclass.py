import os
from dataclasses import dataclass

import torch
import torch.nn as nn
from sklearn.datasets import load_wine


@dataclass
class TrainConfig:
    hidden: int = 32
    lr: float = 1e-6
    epochs: int = 40
    batch_size: int = 16


def main(cfg: TrainConfig):
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    wine = load_wine()
    X = torch.tensor(wine.data, dtype=torch.float32)
    y = torch.tensor(wine.target)
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(5))
    train, test = order[:130], order[130:]
    model = nn.Sequential(
        nn.Linear(13, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, 3),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        for idx in train[torch.randperm(len(train))].split(cfg.batch_size):
            optimizer.zero_grad()
            loss = loss_fn(model(X[idx]), y[idx])
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        acc = (model(X[test]).argmax(dim=1) == y[test]).float().mean().item()
    print(f"test accuracy {acc:.4f}")


main(TrainConfig())
