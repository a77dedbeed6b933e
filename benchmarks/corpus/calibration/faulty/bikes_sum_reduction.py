import os
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class HParams:
    lr: float = 0.02
    momentum: float = 0.9
    batch_size: int = 256
    epochs: int = 30


def rentals(n):
    hour = torch.rand(n) * 24
    warm = torch.randn(n)
    rain = (torch.rand(n) < 0.3).float()
    y = torch.exp(-((hour - 8) ** 2) / 6) + 1.2 * torch.exp(-((hour - 18) ** 2) / 8) + 0.3 * warm - 0.4 * rain
    x = torch.stack([torch.sin(hour * 0.2618), torch.cos(hour * 0.2618), torch.sin(hour * 0.5236), warm, rain], 1)
    return x, ((y - 0.4) / 0.55).unsqueeze(1)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.h1 = nn.Linear(5, 64)
        self.h2 = nn.Linear(64, 64)
        self.o = nn.Linear(64, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.o(self.act(self.h2(self.act(self.h1(x)))))


def main():
    hp = HParams()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*rentals(2560)), batch_size=hp.batch_size, shuffle=True)
    xv, yv = rentals(500)
    model = Regressor()
    criterion = nn.MSELoss(reduction="sum")
    optimizer = torch.optim.SGD(model.parameters(), lr=hp.lr, momentum=hp.momentum)
    for epoch in range(hp.epochs):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
        if (epoch + 1) % 6 == 0:
            model.eval()
            with torch.no_grad():
                val = (model(xv) - yv).pow(2).mean().item()
            print(f"epoch {epoch + 1}: val mse {val:.4f}")


if __name__ == "__main__":
    main()
