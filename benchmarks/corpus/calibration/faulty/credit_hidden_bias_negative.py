import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class CreditMLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.input = nn.Linear(d, 64)
        self.hidden = nn.Linear(64, 32)
        self.output = nn.Linear(32, 1)
        nn.init.constant_(self.input.bias, 0.1)
        nn.init.constant_(self.hidden.bias, -8.0)

    def forward(self, x):
        h = torch.relu(self.input(x))
        h = torch.relu(self.hidden(h))
        return self.output(h).squeeze(-1)


def applicants(n):
    x = torch.randn(n, 10)
    score = x[:, 0] * x[:, 1] + x[:, 2] - x[:, 3].abs() + 0.8
    return x, (score > 0).float()


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train = DataLoader(TensorDataset(*applicants(2000)), batch_size=50, shuffle=True)
    xv, yv = applicants(600)
    model = CreditMLP(10)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(10):
        model.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = ((model(xv) > 0).float() == yv).float().mean()
        print(f"epoch {epoch + 1} loss {total / len(train):.4f} val acc {acc.item():.3f}")


if __name__ == "__main__":
    main()
