import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, dataset, epochs):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    sampler = torch.utils.data.DistributedSampler(dataset, num_replicas=2, rank=rank)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, sampler=sampler)
    net = DistributedDataParallel(nn.Linear(12, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net.module(x), y)
            loss.backward()
            optimizer.step()
