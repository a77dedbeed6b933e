"""Forward passes that leave traces: counters, lists, generators, weights changed in place, output of all kinds."""

import logging
import random
import sys
import warnings
from collections import Counter, deque

import numpy as np
import torch
from common import blobs, finish, seed_everything
from torch import nn

logging.basicConfig(stream=sys.stderr, format="%(message)s")
COUNTS, RECENT, RUNNING = Counter(), deque(maxlen=5), torch.zeros(4)
CALLS = 0


class Diary:
    def __init__(self):
        self.lines = []

    def write(self, value):
        self.lines.append(round(value, 6))


class Codebook(nn.Module):
    """Moves its entries towards what it is given, also in place, also when it is not being trained."""

    def __init__(self):
        super().__init__()
        self.entries = nn.Parameter(torch.randn(6, 4), requires_grad=False)
        self.plain = torch.zeros(4)
        self.generator = torch.Generator().manual_seed(3)
        self.numbers = np.random.default_rng(5)
        self.dice = random.Random(7)

    def forward(self, h):
        nearest = torch.cdist(h.detach(), self.entries).argmin(1)
        with torch.no_grad():
            self.entries[nearest[0]] += 0.1 * (h[0] - self.entries[nearest[0]])
            self.plain += h.mean(0)
        noise = torch.rand(h.shape, generator=self.generator) + self.numbers.random() + self.dice.random()
        return h + (self.entries[nearest] - h).detach() + 0.01 * noise


class Remembering(nn.Module):
    total = 0
    shared = []

    def __init__(self):
        super().__init__()
        self.first, self.book, self.last = nn.Linear(8, 4), Codebook(), nn.Linear(4, 3)
        self.history, self.calls, self.diary, self.state = [], 0, Diary(), None

    def forward(self, x, cache={}):
        self.calls += 1
        type(self).total += 1
        self.shared.append(len(x))
        cache[self.calls] = float(x.mean())
        COUNTS["train" if self.training else "eval"] += 1
        RECENT.append(self.calls)
        RUNNING.add_(1)
        self.first.weight.data = torch.renorm(self.first.weight.data, 2, 0, 1.0)
        h = torch.tanh(self.first(x) + np.random.rand() * 0.01 + random.random() * 0.01)
        self.state = (
            h.detach() if self.state is None or len(self.state) != len(h) else 0.5 * self.state + h.detach()
        )
        self.history.append(h.mean().item())
        self.diary.write(h.std().item())
        if not self.training:
            warnings.warn("evaluating")
        logging.warning("call %d", self.calls)
        print("forward", self.calls, len(cache))
        return self.last(self.book(h) + 0.1 * self.state)


class Counting(nn.Module):
    """Counts in a global variable: nobody can see that from outside."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)

    def forward(self, x):
        global CALLS
        CALLS += 1
        return self.layer(x)


seed_everything(41)
x, y = blobs(48)
for model in (Remembering(), Counting()):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(20):
        batch = torch.randint(48, (16,))
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))
    model.eval()
    with torch.no_grad():
        print(repr(model(x).sum().item()))
    finish(model, optimizer)
first = Remembering.forward.__defaults__[0]
print(COUNTS, list(RECENT), RUNNING.tolist(), CALLS, Remembering.total, Remembering.shared, sorted(first))
