import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from config import TrainConfig
from vit import TinyViT

torch.manual_seed(int(os.environ.get("SEED", "0")))


def checker(n, size):
    """Where is the textured patch: top-left, top-right, bottom-left or bottom-right?"""
    y = torch.randint(0, 4, (n,))
    x = 0.4 * torch.randn(n, size, size)
    tex = torch.tensor([[1.0, -1.0], [-1.0, 1.0]]).repeat(2, 2)
    for i, k in enumerate(y.tolist()):
        r, c = (k // 2) * (size - 4), (k % 2) * (size - 4)
        x[i, r:r + 4, c:c + 4] += tex
    return x, y


def main(cfg):
    x, y = checker(1000, cfg.size)
    xt, yt = checker(400, cfg.size)
    dl = DataLoader(TensorDataset(x, y), cfg.batch_size, shuffle=True)
    model = TinyViT(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    lossf = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        tot = 0.0
        for xb, yb in dl:
            opt.zero_grad()
            loss = lossf(model(xb), yb)
            loss.backward()
            opt.step()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {tot / len(dl):.4f} test acc {acc:.3f}")


main(TrainConfig())
