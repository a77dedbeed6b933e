"""Two interleaved half circles with noise: a binary classifier on two columns, scaled by hand."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
rng = np.random.default_rng(1)

angle = rng.uniform(0, np.pi, 600)
upper = np.stack([np.cos(angle[:300]), np.sin(angle[:300])], axis=1)
lower = np.stack([1 - np.cos(angle[300:]), 0.5 - np.sin(angle[300:])], axis=1)
points = np.concatenate([upper, lower]) * 20 + rng.normal(0, 3.0, (600, 2))
classes = np.concatenate([np.zeros(300), np.ones(300)])
order = rng.permutation(600)
points, classes = points[order], classes[order]

X_train = torch.tensor(points[:400], dtype=torch.float32)
y_train = torch.tensor(classes[:400], dtype=torch.float32)
X_test = torch.tensor(points[400:], dtype=torch.float32)
y_test = torch.tensor(classes[400:], dtype=torch.float32)
mean, std = X_train.mean(0), X_train.std(0)
X_train = (X_train - mean) / std
X_test = (X_test - mean) / std


class Net(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.first = nn.Linear(2, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.relu(self.second(x))
        return self.out(x).squeeze(1)


def train(model, epochs=12, batch_size=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(X_train))
        for start in range(0, len(X_train), batch_size):
            rows = order[start : start + batch_size]
            loss = loss_fn(model(X_train[rows]), y_train[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def evaluate(model):
    model.eval()
    with torch.no_grad():
        return ((model(X_test) > 0).float() == y_test).float().mean().item()


model = Net()
train(model)
print(f"test accuracy {evaluate(model):.3f}")
