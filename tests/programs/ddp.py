"""DistributedDataParallel over gloo; started by torchrun."""

import os

import torch
import torch.distributed as dist
from common import blobs, finish, seed_everything
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    seed_everything(54)
    dataset = TensorDataset(*blobs(64))
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    lines = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            lines.append(f"{rank} {epoch} {loss.item()!r}")
    everything = [None] * dist.get_world_size()
    dist.all_gather_object(everything, lines)
    if rank == 0:
        print("\n".join(line for part in everything for line in part))
        print("ranks", os.environ["WORLD_SIZE"])
        finish(model.module)
    dist.barrier()  # nobody leaves while another still talks
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
