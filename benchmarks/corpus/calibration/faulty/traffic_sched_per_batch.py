import argparse
import os

import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


def series(n):
    t = torch.rand(n, 1) * 100
    lags = torch.cat([torch.sin(0.5 * (t + k)) + 0.5 * torch.sin(1.7 * (t + k)) for k in range(12)], dim=1)
    target = torch.sin(0.5 * (t + 14)) + 0.5 * torch.sin(1.7 * (t + 14))
    target = target * torch.sign(lags[:, :1] + 0.2)
    return lags + 0.05 * torch.randn_like(lags), target


class Forecaster(nn.Module):
    def __init__(self, lags):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(lags, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=24)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--decay-every", type=int, default=8, help="epochs between decays")
    ap.add_argument("--gamma", type=float, default=0.4)
    args = ap.parse_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))

    loader = DataLoader(TensorDataset(*series(1200)), batch_size=60, shuffle=True)
    xv, yv = series(400)
    model = Forecaster(12)
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = StepLR(optimizer, step_size=args.decay_every, gamma=args.gamma)

    for epoch in range(args.epochs):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
            scheduler.step()
        if epoch % 6 == 5:
            model.eval()
            with torch.no_grad():
                print(f"epoch {epoch + 1}: val mse {loss_fn(model(xv), yv).item():.4f}")


if __name__ == "__main__":
    main()
