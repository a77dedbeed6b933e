"""First steps with MAML: sine waves with different phase/amplitude, one inner gradient step."""
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(int(os.environ.get("SEED", "0")))

net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
meta_opt = torch.optim.Adam(net.parameters(), lr=3e-3)
INNER_LR, SHOTS, TASKS = 0.05, 10, 4


def sample_task():
    amp, phase = 0.5 + 1.5 * torch.rand(()), math.pi * torch.rand(())

    def draw(n):
        x = torch.rand(n, 1) * 4 - 2
        return x, amp * torch.sin(1.5 * x + phase)

    return draw


def adapt(params, x, y, create_graph):
    loss = F.mse_loss(functional_call(net, params, (x,)), y)
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
    return {k: p - INNER_LR * g for (k, p), g in zip(params.items(), grads)}


def evaluate(n_tasks=50):
    before = after = 0.0
    for _ in range(n_tasks):
        draw = sample_task()
        xs, ys = draw(SHOTS)
        xq, yq = draw(50)
        fast = adapt(dict(net.named_parameters()), xs, ys, create_graph=False)
        with torch.no_grad():
            before += F.mse_loss(net(xq), yq).item()
            after += F.mse_loss(functional_call(net, fast, (xq,)), yq).item()
    return before / n_tasks, after / n_tasks


for it in range(1, 301):
    meta_loss = 0.0
    for _ in range(TASKS):
        draw = sample_task()
        xs, ys = draw(SHOTS)
        xq, yq = draw(20)
        fast = adapt(dict(net.named_parameters()), xs, ys, create_graph=True)
        meta_loss = meta_loss + F.mse_loss(functional_call(net, fast, (xq,)), yq)
    meta_loss = meta_loss / TASKS
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
    if it % 60 == 0:
        b, a = evaluate()
        print(f"iter {it}  meta loss {meta_loss.item():.3f}  eval before {b:.3f} after one step {a:.3f}")
