import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def measurements(n):
    x = torch.randn(n, 8)
    y = 1.5 * torch.sin(1.5 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] - 0.7 * x[:, 3:4]
    return x, y + 0.1 * torch.randn(n, 1)


def build():
    return nn.Sequential(
        nn.Linear(8, 64),
        nn.ReLU(),
        nn.Linear(64, 64),
        nn.ReLU(),
        nn.Linear(64, 1),
    )


def train(model, loader, epochs=15, lr=2e-3):
    loss_function = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for features, target in loader:
            optimizer.zero_grad()
            loss = loss_function(model(features), target)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1} train mse {total / len(loader):.4f}")


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*measurements(2500)), batch_size=50, shuffle=True)
    model = build()
    for layer in (model[2],):
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    train(model, loader)
    x_test, y_test = measurements(500)
    model.eval()
    with torch.no_grad():
        print(f"test mse {nn.functional.mse_loss(model(x_test), y_test).item():.4f}")


if __name__ == "__main__":
    main()
