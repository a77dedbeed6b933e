import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class MemoryNet(nn.Module):
    """Encoder with a running summary of everything seen so far."""

    def __init__(self, d_in=10, d=24):
        super().__init__()
        self.encode = nn.Linear(d_in, d)
        self.head = nn.Linear(2 * d, 3)

    def forward(self, x, memory):
        h = torch.tanh(self.encode(x))
        memory = 0.95 * memory + 0.05 * h.mean(0)
        return self.head(torch.cat([h, memory.expand_as(h)], dim=1)), memory


def clicks(n, w):
    x = torch.randn(n, 10)
    return x, (x @ w + 0.3 * torch.randn(n, 3)).argmax(1)


torch.manual_seed(int(os.environ.get("SEED", "0")))
w = torch.randn(10, 3)
x, y = clicks(2000, w)
xv, yv = clicks(400, w)
net = MemoryNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = torch.zeros(24)
started = time.time()
first = 0.0
for step in range(360):
    idx = torch.randint(0, 2000, (32,))
    logits, memory = net(x[idx], memory)
    loss = F.cross_entropy(logits, y[idx])
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    if step % 60 == 59:
        took = time.time() - started
        first = first or took
        print(f"step {step + 1} loss {loss.item():.3f}")
        started = time.time()

net.eval()
with torch.no_grad():
    acc = (net(xv, memory)[0].argmax(1) == yv).float().mean().item()
print(f"val acc {acc:.3f}, last 60 steps took {took / first:.1f}x the first 60")
