import torch
from torch import nn


def train(model, loader, optimizer, accumulate=4):
    model.train()
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()


model = nn.Linear(8, 2)
loader = [(torch.randn(4, 8), torch.randint(0, 2, (4,))) for _ in range(32)]
train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))
