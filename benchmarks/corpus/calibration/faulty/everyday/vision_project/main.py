import os
import tempfile
from pathlib import Path

import torch
from config import Config
from images import Bars
from network import VGGish
from torch.utils.data import DataLoader


def run(cfg):
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    root = Path(tempfile.mkdtemp())
    train = DataLoader(Bars(root, 400, cfg.image_size, 0), batch_size=cfg.batch_size, shuffle=True)
    val = DataLoader(Bars(root, 150, cfg.image_size, 1), batch_size=150)
    model = VGGish(image_size=cfg.image_size)
    opt = getattr(torch.optim, cfg.optim.name)(
        model.parameters(), lr=cfg.optim.lr, momentum=cfg.optim.momentum, weight_decay=cfg.optim.weight_decay
    )
    criterion = torch.nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        for x, y in train:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            x, y = next(iter(val))
            print(f"epoch {epoch}: val accuracy {(model(x).argmax(1) == y).float().mean().item():.4f}")


if __name__ == "__main__":
    run(Config())
