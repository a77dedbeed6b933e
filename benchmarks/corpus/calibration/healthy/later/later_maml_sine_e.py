#!/usr/bin/env python
"""MAML on sinusoids with torch.func. Inner loop is plain SGD written by hand, all tasks are vmapped."""
import argparse
import math

import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap


def sample_tasks(n_tasks, k, gen):
    amp = torch.empty(n_tasks, 1, 1).uniform_(0.5, 3.0, generator=gen)
    phase = torch.empty(n_tasks, 1, 1).uniform_(0, math.pi, generator=gen)
    x = torch.empty(n_tasks, 2 * k, 1).uniform_(-4, 4, generator=gen)
    y = amp * torch.sin(x + phase)
    return x[:, :k], y[:, :k], x[:, k:], y[:, k:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--meta-iters", type=int, default=600)
    ap.add_argument("--tasks", type=int, default=25)
    ap.add_argument("--shots", type=int, default=10)
    ap.add_argument("--inner-lr", type=float, default=0.03)
    ap.add_argument("--inner-steps", type=int, default=2)
    ap.add_argument("--meta-lr", type=float, default=4e-3)
    args = ap.parse_args()

    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(5)
    net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
    # parameters live in a dict of leaf tensors, the module is only a recipe
    params = {k: v.detach().clone().requires_grad_(True) for k, v in net.named_parameters()}

    def loss_fn(p, x, y):
        return ((functional_call(net, p, (x,)) - y) ** 2).mean()

    def adapt(p, x, y, steps):
        for _ in range(steps):
            g = grad(loss_fn)(p, x, y)
            p = {k: p[k] - args.inner_lr * g[k] for k in p}
        return p

    def task_loss(p, xs, ys, xq, yq, steps=args.inner_steps):
        return loss_fn(adapt(p, xs, ys, steps), xq, yq)

    def evaluate(steps, n=100):
        tasks = sample_tasks(n, args.shots, torch.Generator().manual_seed(999))
        f = lambda *t: task_loss(params, *t, steps=steps)
        with torch.no_grad():
            return vmap(f)(*tasks).mean().item()

    opt = torch.optim.Adam(params.values(), lr=args.meta_lr)
    _, _, _, yq = sample_tasks(100, args.shots, torch.Generator().manual_seed(999))
    print(f"predicting zero: {(yq ** 2).mean():.3f}")
    print(f"before meta-training, 5 inner steps: {evaluate(5):.3f}")

    for it in range(1, args.meta_iters + 1):
        batch = sample_tasks(args.tasks, args.shots, gen)
        meta = vmap(lambda *t: task_loss(params, *t))(*batch).mean()
        opt.zero_grad()
        meta.backward()
        opt.step()
        if it % 75 == 0:
            print(f"iter {it:4d}  meta loss {meta.item():.4f}  "
                  f"eval: 0 steps {evaluate(0):.3f} | 2 steps {evaluate(2):.3f} | 10 steps {evaluate(10):.3f}")


if __name__ == "__main__":
    main()
