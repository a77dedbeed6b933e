import math
import os

import torch

torch.manual_seed(int(os.environ.get("SEED", "0")))


def rings(n):
    k = torch.randint(0, 3, (n,))
    r = 1.0 + k + 0.2 * torch.randn(n)
    a = 2 * math.pi * torch.rand(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1) / 2, k


class RingNet(torch.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, width), torch.nn.Linear(width, width), torch.nn.Linear(width, 3)])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


points, ring = rings(6000)
test_points, test_ring = rings(1000)
net = RingNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
ce = torch.nn.CrossEntropyLoss()
for epoch in range(15):
    net.train()
    opt.zero_grad()
    loss = ce(net(points), ring)
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(test_points).argmax(1) == test_ring).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} acc {acc:.3f}")
