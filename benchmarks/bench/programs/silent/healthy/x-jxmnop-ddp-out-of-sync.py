"""Data-parallel training over gloo: torchrun --nproc_per_node 2 THIS_FILE."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

SEED = int(os.environ.get("SEED", "0"))


class Trainer:
    """Owns the loop, as trainers of libraries do."""

    def __init__(self, model, dataset, epochs):
        self.model = model
        self.wrapped = DistributedDataParallel(model)
        self.optimizer = torch.optim.Adam(self.wrapped.parameters(), lr=2e-3)
        self.sampler = DistributedSampler(dataset, seed=SEED)
        self.loader = DataLoader(dataset, batch_size=32, sampler=self.sampler)
        self.epochs = epochs

    def compute_loss(self, x, y):
        return nn.functional.cross_entropy(self.wrapped(x), y)

    def train(self):
        self.wrapped.train()
        for epoch in range(self.epochs):
            self.sampler.set_epoch(epoch)
            total = 0.0
            for x, y in self.loader:
                self.optimizer.zero_grad()
                loss = self.compute_loss(x, y)
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} loss {total / len(self.loader):.4f}")


def rings(count):
    y = torch.randint(0, 3, (count,))
    radius = 1.0 + y.float() + 0.25 * torch.randn(count)
    angle = 6.28 * torch.rand(count)
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1), y


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(SEED)
    x, y = rings(1500)
    held_x, held_y = rings(400)
    net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
    Trainer(net, TensorDataset(x, y), epochs=6).train()
    net.eval()
    with torch.no_grad():
        accuracy = (net(held_x).argmax(1) == held_y).float().mean().item()
    if dist.get_rank() == 0:
        print(f"test accuracy {accuracy:.3f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
