import copy
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Settings:
    hidden: int = 64
    lr: float = 3e-3
    batch_size: int = 64
    max_epochs: int = 40
    patience: int = 5
    dropout: float = 0.2


class EarlyStopper:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.weights = patience, float("inf"), 0, None

    def update(self, value, model):
        if value < self.best - 1e-4:
            self.best, self.bad = value, 0
            self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def build_data():
    n = 2400
    x = torch.randn(n, 10)
    logit = 2 * x[:, 0] * x[:, 1] + 1.5 * x[:, 2] - x[:, 3]
    y = (logit + 0.5 * torch.randn(n) > 0).float()
    return random_split(TensorDataset(x, y), [1800, 300, 300])


def evaluate(model, loader, criterion):
    model.eval()
    loss = hits = n = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x).squeeze(-1)
            loss += criterion(out, y).item() * len(y)
            hits += ((out > 0) == (y > 0.5)).sum().item()
            n += len(y)
    return loss / n, hits / n


def run(s: Settings):
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, val, test = build_data()
    loaders = [DataLoader(train, s.batch_size, shuffle=True), DataLoader(val, 300), DataLoader(test, 300)]
    model = nn.Sequential(
        nn.Linear(10, s.hidden), nn.ReLU(), nn.Dropout(s.dropout),
        nn.Linear(s.hidden, s.hidden), nn.ReLU(), nn.Dropout(s.dropout), nn.Linear(s.hidden, 1),
    )
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=s.lr, weight_decay=1e-2)
    stopper = EarlyStopper(s.patience)
    for epoch in range(s.max_epochs):
        model.train()
        for x, y in loaders[0]:
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(-1), y)
            loss.backward()
            optimizer.step()
        val_loss, val_acc = evaluate(model, loaders[1], criterion)
        if epoch % 4 == 0:
            print(f"epoch {epoch} val loss {val_loss:.4f} acc {val_acc:.3f}")
        if stopper.update(val_loss, model):
            print(f"stopped after epoch {epoch}")
            break
    model.load_state_dict(stopper.weights)
    print("test loss %.4f acc %.3f" % evaluate(model, loaders[2], criterion))


if __name__ == "__main__":
    run(Settings())
