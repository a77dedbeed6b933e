import os
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Cfg:
    n_train: int = 700
    n_val: int = 300
    size: int = 16
    epochs: int = 10
    batch: int = 32
    lr: float = 2e-3


class Stripes(Dataset):
    """Class 0: horizontal bars, 1: vertical bars, 2: diagonal bars, 3: blobs."""

    def __init__(self, n, size, augment=False):
        self.augment = augment
        g = torch.arange(size).float()
        yy, xx = torch.meshgrid(g, g, indexing="ij")
        self.items = []
        for _ in range(n):
            k = random.randrange(4)
            w, p = random.uniform(0.9, 1.4), random.uniform(0, 6.28)
            base = [torch.sin(w * yy + p), torch.sin(w * xx + p), torch.sin(w * 0.7 * (xx + yy) + p),
                    torch.sin(w * xx + p) * torch.sin(w * yy + p)][k]
            self.items.append(((base + 0.5 * torch.randn(size, size)).unsqueeze(0), k))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, k = self.items[i]
        if self.augment:
            img = torch.rot90(img, random.randrange(4), (1, 2))
            if random.random() < 0.5:
                img = img.flip(2)
        return img, k


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


def run(cfg):
    train_dl = DataLoader(Stripes(cfg.n_train, cfg.size, augment=True), batch_size=cfg.batch, shuffle=True)
    val_dl = DataLoader(Stripes(cfg.n_val, cfg.size), batch_size=100)
    net = nn.Sequential(conv_block(1, 8), conv_block(8, 16), nn.Flatten(), nn.Linear(16 * 16, 4))
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=1e-3)
    for ep in range(cfg.epochs):
        net.train()
        losses = []
        for x, y in train_dl:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            ok = sum((net(x).argmax(1) == y).sum().item() for x, y in val_dl)
        print(f"epoch {ep}: loss={sum(losses) / len(losses):.3f} val_acc={ok / cfg.n_val:.3f}")


if __name__ == "__main__":
    s = int(os.environ.get("SEED", "0"))
    random.seed(s)
    torch.manual_seed(s)
    run(Cfg())
