"""A user's own Optimizer subclass, and a wrapper around another optimiser (Lookahead)."""

import torch
from common import blobs, finish, seed_everything
from torch import nn
from torch.optim.optimizer import Optimizer


class SignSGD(Optimizer):
    def __init__(self, params, lr=0.01, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["average"] = torch.zeros_like(p)
                state["average"].mul_(group["beta"]).add_(p.grad, alpha=1 - group["beta"])
                p.add_(state["average"].sign(), alpha=-group["lr"])
        return loss


class Lookahead:
    """Not an Optimizer: it only looks like one."""

    def __init__(self, inner, k=5):
        self.inner, self.k, self.count = inner, k, 0
        self.slow = [p.detach().clone() for g in inner.param_groups for p in g["params"]]

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        self.inner.step()
        self.count += 1
        if self.count % self.k == 0:
            fast = [p for g in self.inner.param_groups for p in g["params"]]
            for slow, p in zip(self.slow, fast):
                slow += 0.5 * (p.data - slow)
                p.data.copy_(slow)


seed_everything(37)
x, y = blobs(64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
for optimizer in (SignSGD(model.parameters()), Lookahead(torch.optim.Adam(model.parameters(), lr=5e-3))):
    for step in range(12):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(type(optimizer).__name__, step, repr(loss.item()))
finish(model)
