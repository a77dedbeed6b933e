"""A thread outlives the main thread, atexit functions print, an object prints in its finaliser."""

import atexit
import threading
import time

import torch
from common import blobs, finish, seed_everything
from torch import nn


class Goodbye:
    def __del__(self):
        print("finaliser", flush=True)


def train(name, seed):
    torch.manual_seed(seed)
    x, y = blobs(32)
    model = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(name, repr(loss.item()), flush=True)
    return model


def late():
    main = threading.main_thread()
    while main.is_alive():
        time.sleep(0.01)
    train("late thread", 2)


seed_everything(49)
atexit.register(print, "atexit one")
atexit.register(lambda: train("atexit two", 3))
goodbye = Goodbye()
model = train("main", 1)
finish(model)
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
