import torch
from torch import nn, optim


def fit(model, loader, epochs, device="cpu"):
    opt = optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.MSELoss()
    model.to(device)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            opt.zero_grad()
            loss = loss_fn(model(x).squeeze(1), y)
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")
    return model
