"""Trains a little, then ends in the way named by the first argument."""

import os
import signal
import sys

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Trouble(Exception):
    def __str__(self):
        return "two\nlines"


def train():
    seed_everything(46)
    x, y = blobs(32)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    for step in range(4):
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        print(step, repr(loss.item()))
    finish(model)


def end(how):
    sys.stdout.flush()
    if how == "exit":
        sys.exit(3)
    elif how == "exit-text":
        sys.exit("could not go on")
    elif how == "exit-none":
        sys.exit()
    elif how == "exit-huge":
        sys.exit(300)
    elif how == "system-exit":
        raise SystemExit(4)
    elif how == "value-error":
        raise ValueError("the user's own mistake")
    elif how == "chained":
        try:
            {}["missing"]
        except KeyError as error:
            raise Trouble() from error
    elif how == "shape":
        nn.Sequential(nn.Linear(3, 4))(torch.zeros(2, 5))
    elif how == "backward":
        loss = nn.Linear(2, 1)(torch.zeros(1, 2)).sum()
        loss.backward()
        loss.backward()
    elif how == "recursion":
        end(how)
    elif how == "hard-exit":
        os._exit(5)
    elif how == "abort":
        os.abort()
    elif how == "interrupt":
        raise KeyboardInterrupt
    elif how == "caught-interrupt":
        try:
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
        except KeyboardInterrupt:
            print("caught")
    else:
        os.kill(os.getpid(), getattr(signal, how))
        signal.pause()


if __name__ == "__main__":
    train()
    end(sys.argv[1])
