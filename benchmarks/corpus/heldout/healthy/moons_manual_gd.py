"""Homework 3: two moons with a hand written update rule (no torch.optim)."""
import math
import os

import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))


def two_moons(n, noise=0.1):
    half = n // 2
    t1 = torch.rand(half) * math.pi
    t2 = torch.rand(half) * math.pi
    a = torch.stack([torch.cos(t1), torch.sin(t1)], 1)
    b = torch.stack([1 - torch.cos(t2), 0.5 - torch.sin(t2)], 1)
    x = torch.cat([a, b]) + noise * torch.randn(2 * half, 2)
    y = torch.cat([torch.zeros(half), torch.ones(half)])
    perm = torch.randperm(len(x))
    return x[perm], y[perm]


x, y = two_moons(400)
x_test, y_test = two_moons(400)

H = 24
W1 = (torch.randn(2, H) / math.sqrt(2)).requires_grad_()
b1 = torch.zeros(H, requires_grad=True)
W2 = (torch.randn(H, 1) / math.sqrt(H)).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
params = [W1, b1, W2, b2]


def forward(x):
    h = torch.tanh(x @ W1 + b1)
    return (h @ W2 + b2).squeeze(1)


lr = 0.5
for it in range(1200):
    logits = forward(x)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, y)
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        for p, g in zip(params, grads):
            p -= lr * g
    if it % 200 == 0 or it == 1199:
        acc = ((logits > 0) == (y > 0.5)).float().mean()
        print(f"iter {it:4d}  loss {loss.item():.4f}  train acc {acc:.3f}")

with torch.no_grad():
    acc = ((forward(x_test) > 0) == (y_test > 0.5)).float().mean()
print(f"test acc {acc:.3f}")
