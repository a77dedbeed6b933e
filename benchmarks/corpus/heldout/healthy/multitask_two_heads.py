"""Shared trunk, two heads: which machine state (4 classes) and remaining time (regression)."""
import os
from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class TrainConfig:
    hidden: list[int] = field(default_factory=lambda: [64, 64])
    lr: float = 2e-3
    batch_size: int = 64
    epochs: int = 15
    reg_weight: float = 0.5
    seed: int = int(os.environ.get("SEED", "0"))


class TwoHead(nn.Module):
    def __init__(self, n_in: int, hidden: list[int], n_cls: int):
        super().__init__()
        dims = [n_in, *hidden]
        self.trunk = nn.Sequential()
        for i, (a, b) in enumerate(zip(dims, dims[1:])):
            self.trunk.add_module(f"lin{i}", nn.Linear(a, b))
            self.trunk.add_module(f"act{i}", nn.ELU())
        self.cls_head = nn.Linear(dims[-1], n_cls)
        self.reg_head = nn.Linear(dims[-1], 1)

    def forward(self, x):
        h = self.trunk(x)
        return {"logits": self.cls_head(h), "time": self.reg_head(h).squeeze(-1)}


def synth(n):
    wear = torch.rand(n) * 4
    state = wear.long().clamp(max=3)
    load = torch.rand(n)
    base = torch.stack(
        [wear.sin(), wear.cos(), load, wear * load, (wear * 2).sin(), load**2], dim=1
    )
    x = torch.cat([base, torch.randn(n, 4)], 1) + 0.05 * torch.randn(n, 10)
    remaining = (4 - wear) * (1.5 - load)
    return x, state, remaining


def main(cfg: TrainConfig):
    torch.manual_seed(cfg.seed)
    x, state, rem = synth(2000)
    xv, sv, rv = synth(600)
    mx, sx = x.mean(0), x.std(0)
    x, xv = (x - mx) / sx, (xv - mx) / sx
    mr, sr = rem.mean(), rem.std()

    net = TwoHead(10, cfg.hidden, 4)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
    for epoch in range(cfg.epochs):
        net.train()
        tot_c = tot_r = 0.0
        batches = torch.randperm(len(x)).split(cfg.batch_size)
        for ix in batches:
            out = net(x[ix])
            lc = ce(out["logits"], state[ix])
            lr_ = mse(out["time"], (rem[ix] - mr) / sr)
            opt.zero_grad()
            (lc + cfg.reg_weight * lr_).backward()
            opt.step()
            tot_c += lc.item()
            tot_r += lr_.item()
        if epoch % 3 == 2:
            net.eval()
            with torch.no_grad():
                o = net(xv)
            acc = (o["logits"].argmax(1) == sv).float().mean().item()
            mae = (o["time"] * sr + mr - rv).abs().mean().item()
            print(f"{epoch + 1:02d} ce {tot_c / len(batches):.3f} mse {tot_r / len(batches):.4f} | val acc {acc:.3f} MAE {mae:.3f}")


if __name__ == "__main__":
    main(TrainConfig())
