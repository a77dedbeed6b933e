import os
import torch
from torch import nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.1)
        nn.init.constant_(m.bias, 0.0)


def checkerboard(n, cells=3):
    pts = torch.rand(n, 2) * cells
    lab = (pts.floor().sum(1) % 2).float()
    return 2 * (pts - cells / 2), lab


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = checkerboard(2000)
    xt, yt = checkerboard(500)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    model.apply(init_weights)
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(32):
        model.train()
        epoch_loss = 0.0
        for idx in torch.randperm(len(x)).split(100):
            loss = loss_fn(model(x[idx]).flatten(), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(idx)
        if epoch % 4 == 3:
            model.eval()
            with torch.no_grad():
                acc = ((model(xt).flatten() > 0).float() == yt).float().mean().item()
            print(f"epoch {epoch + 1} loss {epoch_loss / len(x):.4f} test acc {acc:.3f}")


main()
