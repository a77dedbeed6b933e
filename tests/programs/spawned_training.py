"""torch.multiprocessing with spawn: two children train, the parent averages."""

import torch
import torch.multiprocessing as mp
from common import blobs, finish, seed_everything
from torch import nn


def make():
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))


def train(rank, state, queue):
    torch.manual_seed(rank)
    model = make()
    model.load_state_dict(state)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = blobs(32, seed=rank + 1)
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    queue.put((rank, __name__, loss.item(), {k: v.tolist() for k, v in model.state_dict().items()}))


if __name__ == "__main__":
    seed_everything(43)
    model = make()
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    state = {k: v.clone() for k, v in model.state_dict().items()}
    workers = [context.Process(target=train, args=(rank, state, queue)) for rank in range(2)]
    for worker in workers:
        worker.start()
    results = sorted((queue.get() for _ in workers), key=lambda r: r[0])
    for worker in workers:
        worker.join()
    for rank, name, loss, _ in results:
        print(rank, name, repr(loss))
    print([worker.exitcode for worker in workers])
    averaged = {k: torch.tensor([r[3][k] for r in results]).mean(0) for k in state}
    model.load_state_dict(averaged)
    finish(model)
