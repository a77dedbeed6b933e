import torch
from torch import nn


class Runner:
    def __init__(self, net):
        self.net = net
        self.optim = torch.optim.Adam(net.parameters(), lr=1e-3)

    def train_epoch(self, loader):
        self.net.train()
        for x, y in loader:
            self.optim.zero_grad()
            loss = nn.functional.cross_entropy(self.net(x), y)
            loss.backward()
            self.last = loss.item()
        return self.last


runner = Runner(nn.Linear(10, 3))
batches = [(torch.randn(16, 10), torch.randint(0, 3, (16,))) for _ in range(20)]
for _ in range(5):
    print(runner.train_epoch(batches))
