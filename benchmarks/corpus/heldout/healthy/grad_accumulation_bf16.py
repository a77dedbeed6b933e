"""Gradient accumulation (4 micro-batches) with bf16 autocast on CPU; cosine schedule per optimiser step."""
import argparse
import math
import os

import torch
from torch import nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--micro-batch", type=int, default=25)
    p.add_argument("--accum", type=int, default=4)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--warmup", type=int, default=15)
    p.add_argument("--no-amp", action="store_true")
    return p.parse_args()


def tones(n, length=48):
    """Which of 5 notes is the loudest in a mix of two?"""
    f = torch.tensor([2.0, 3.0, 5.0, 7.0, 9.0])
    t = torch.arange(length) / length * 2 * math.pi
    loud = torch.randint(0, 5, (n,))
    other = (loud + torch.randint(1, 5, (n,))) % 5
    ph = torch.rand(n, 2, 1) * 2 * math.pi
    x = torch.sin(f[loud, None] * t + ph[:, 0]) + 0.5 * torch.sin(f[other, None] * t + ph[:, 1])
    return x + 0.3 * torch.randn(n, length), loud


def main():
    args = get_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = tones(3000)
    xv, yv = tones(800)
    model = nn.Sequential(nn.Linear(48, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 5))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    steps_per_epoch = len(x) // (args.micro_batch * args.accum)
    total = args.epochs * steps_per_epoch

    def factor(s):
        if s < args.warmup:
            return (s + 1) / args.warmup
        return 0.5 * (1 + math.cos(math.pi * (s - args.warmup) / (total - args.warmup)))

    sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
    ce = nn.CrossEntropyLoss()
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        opt.zero_grad()
        for i, idx in enumerate(torch.randperm(len(x)).split(args.micro_batch), start=1):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=not args.no_amp):
                loss = ce(model(x[idx]), y[idx])
            (loss / args.accum).backward()
            running += loss.item()
            if i % args.accum == 0:
                opt.step()
                sched.step()
                opt.zero_grad()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch:2d} loss {running / i:.4f} val acc {acc:.3f} lr {opt.param_groups[0]['lr']:.5f}")


if __name__ == "__main__":
    main()
