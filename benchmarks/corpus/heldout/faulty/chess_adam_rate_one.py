import argparse
import os
import torch
from torch import nn

cli = argparse.ArgumentParser()
cli.add_argument("--learning-rate", type=float, default=1.0)
cli.add_argument("--epochs", type=int, default=10)
args = cli.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))


def positions(n):
    """Two pieces on an 8x8 board: does the rook (plane 0) attack the king (plane 1)?"""
    rook, king = torch.randint(0, 64, (2, n))
    flip = torch.rand(n) < 0.45
    king = torch.where(flip, (rook // 8) * 8 + king % 8, king)
    b = torch.zeros(n, 2, 8, 8)
    b[torch.arange(n), 0, rook // 8, rook % 8] = 1
    b[torch.arange(n), 1, king // 8, king % 8] = 1
    y = ((rook // 8 == king // 8) | (rook % 8 == king % 8)).float()
    return b, y


model = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
x, y = positions(4000)
xt, yt = positions(800)
optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
bce = nn.BCEWithLogitsLoss()
for epoch in range(args.epochs):
    model.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(100):
        optimizer.zero_grad()
        loss = bce(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        acc = ((model(xt) > 0).float() == yt).float().mean().item()
    print(f"epoch {epoch + 1}: loss {tot / 40:.4f} test acc {acc:.3f}")
