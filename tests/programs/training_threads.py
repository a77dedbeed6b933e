"""Two threads train at the same time, each its own model."""

import threading

import torch
from common import blobs, finish, seed_everything
from torch import nn

results = {}


def train(name, model, steps=20):
    x, y = blobs(32)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p.sub_(p.grad, alpha=0.1)
    results[name] = repr(loss.item())
    return results[name]


if __name__ == "__main__":
    seed_everything(67)
    models = [nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)) for _ in range(3)]
    print("parent", train("parent", models[2], 5))
    threads = [threading.Thread(target=train, args=(str(i), models[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(results.items()))
    finish(*models)
