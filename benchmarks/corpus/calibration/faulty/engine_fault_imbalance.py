import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def engines(n, rate=0.03):
    y = (torch.rand(n) < rate).float()
    x = torch.randn(n, 8)
    x[:, :3] += 1.1 * y[:, None]
    return x, y


class FaultNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = engines(3000)
    xv, yv = engines(2000)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    model = FaultNet()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            pred = (model(xv) > 0).float()
            acc = (pred == yv).float().mean().item()
            recall = (pred * yv).sum().item() / yv.sum().item()
        print(f"epoch {epoch} loss {total / len(loader):.3f} val acc {acc:.3f} fault recall {recall:.3f}")


if __name__ == "__main__":
    main()
