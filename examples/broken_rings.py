"""A small classifier that will not learn. What is wrong?  Try: netmend run examples/broken_rings.py"""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def rings(samples, classes=4):
    """Points on noisy concentric rings: the class is the ring."""
    labels = torch.randint(0, classes, (samples,))
    angle = torch.rand(samples) * 2 * math.pi
    radius = labels + 1 + 0.15 * torch.randn(samples)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(
            nn.Linear(2, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
        )
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        return torch.softmax(self.out(self.hidden(x)), dim=1)


train = DataLoader(TensorDataset(*rings(2000)), batch_size=64, shuffle=True)
validation = DataLoader(TensorDataset(*rings(500)), batch_size=256)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in validation:
            prediction = model(x)
            criterion(prediction, y)
            correct += (prediction.argmax(dim=1) == y).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, validation accuracy {correct / 500:.0%}")
