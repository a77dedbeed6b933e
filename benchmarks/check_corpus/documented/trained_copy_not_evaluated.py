import torch
from torch import nn


def train(model, loader, val_loader, epochs=20):
    opt = torch.optim.Adam(model.parameters())
    best, best_state = float("inf"), None
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            opt.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            val = sum(nn.functional.mse_loss(model(x), y).item() for x, y in val_loader)
        if val < best:
            best = val
            best_state = model.state_dict()
    model.load_state_dict(best_state)
    return model
