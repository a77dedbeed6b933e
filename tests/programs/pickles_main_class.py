"""Objects of classes defined in __main__ are pickled and unpickled, also by a pool of processes."""

import multiprocessing
import pickle
import sys
from dataclasses import dataclass

import torch
from common import finish, seed_everything
from torch import nn


@dataclass
class Settings:
    width: int = 4


class Net(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.linear = nn.Linear(2, settings.width)

    def forward(self, x):
        return self.linear(x).relu().sum()


def double(settings):
    return Settings(settings.width * 2)


if __name__ == "__main__":
    seed_everything(48)
    print(Net.__module__, sys.modules["__main__"].Net is Net, pickle.dumps(Settings()))
    model = pickle.loads(pickle.dumps(Net(Settings())))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        loss = (model(torch.ones(3, 2)) - 1) ** 2
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(double, [model.settings]))
    finish(model)
