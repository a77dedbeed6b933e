import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)

GLYPHS = rng.integers(0, 2, size=(10, 7, 7)).astype(np.float32)


def digits(n):
    y = rng.integers(0, 10, n)
    x = GLYPHS[y].copy()
    flips = rng.random(x.shape) < 0.12
    x[flips] = 1 - x[flips]
    shade = rng.uniform(20, 30, (n, 1, 1))
    x = x * shade + rng.normal(0, 9.0, x.shape)
    return torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        width = 49
        for _ in range(5):
            layers += [nn.Linear(width, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU()]
            width = 64
        self.flatten = nn.Flatten()
        self.bn0 = nn.BatchNorm1d(49)
        self.layers = nn.Sequential(*layers)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.layers(self.bn0(self.flatten(x))))


def run_validation(model, loader, criterion):
    model.eval()
    correct, loss, count = 0, 0.0, 0
    with torch.no_grad():
        for xb, yb in loader:
            pred = model(xb)
            loss += criterion(pred, yb).item() * len(yb)
            correct += (pred.argmax(1) == yb).sum().item()
            count += len(yb)
    return loss / count, correct / count


model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
train_dl = DataLoader(TensorDataset(*digits(1000)), batch_size=50, shuffle=True)
val_dl = DataLoader(TensorDataset(*digits(500)), batch_size=250)

print("before training: loss %.3f acc %.3f" % run_validation(model, val_dl, criterion))
for epoch in range(10):
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print("epoch %d: val loss %.3f acc %.3f" % (epoch + 1, *run_validation(model, val_dl, criterion)))
