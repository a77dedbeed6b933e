import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits


class Learner:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr)
        self.crit = nn.CrossEntropyLoss()

    def accuracy(self, loader):
        hits = n = 0
        for x, y in loader:
            hits += (self.model(x).argmax(1) == y).sum().item()
            n += len(y)
        return hits / n

    def fit(self, train, test, epochs):
        for e in range(epochs):
            for x, y in train:
                loss = self.crit(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(f"epoch {e} loss {loss.item():.4f} test acc {self.accuracy(test):.4f}")


torch.manual_seed(int(os.environ.get("SEED", 0)))
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 10))
learner = Learner(model, lr=0.001)
learner.fit(DataLoader(TensorDataset(x[:1400], y[:1400]), 32, shuffle=True), DataLoader(TensorDataset(x[1400:], y[1400:]), 100), epochs=10)
