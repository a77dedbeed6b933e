import json
import os
import sys

import torch
from torch import nn
from torch.optim import lr_scheduler


class Settings(dict):
    __getattr__ = dict.__getitem__


DEFAULTS = Settings(json.loads("""{
    "optimizer": {"class": "AdamW", "args": {"lr": 0.2, "weight_decay": 0.01}},
    "scheduler": {"class": "CosineAnnealingLR", "args": {"T_max": 600}},
    "steps": 600, "dim": 24, "heads": 4
}"""))


class Sorter(nn.Module):
    """Which position holds the largest number?"""

    def __init__(self, dim, heads):
        super().__init__()
        self.inp = nn.Linear(1, dim)
        self.block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        return self.out(self.block(self.inp(x))).squeeze(-1)


def instantiate(module, spec, *args):
    return getattr(module, spec["class"])(*args, **spec["args"])


def main(cfg):
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    model = Sorter(cfg.dim, cfg.heads)
    optimizer = instantiate(torch.optim, cfg.optimizer, model.parameters())
    scheduler = instantiate(lr_scheduler, cfg.scheduler, optimizer)
    for step in range(cfg.steps):
        x = torch.rand(32, 8, 1)
        loss = nn.functional.cross_entropy(model(x), x.squeeze(-1).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 100 == 99:
            print(f"step {step + 1} loss {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        x = torch.rand(1000, 8, 1)
        print(f"test accuracy {(model(x).argmax(1) == x.squeeze(-1).argmax(1)).float().mean().item():.4f}")


if __name__ == "__main__":
    main(DEFAULTS)
