import os
import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


class PollenNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 10, 3)
        self.fc = nn.Linear(10 * 16, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(torch.flatten(x, 1))


def grains(n, stamps):
    y = torch.randint(0, 4, (n,))
    return (stamps[y] + 0.7 * torch.randn(n, 10, 10)).unsqueeze(1), y


stamps = torch.randn(4, 10, 10) * 0.8
x, y = grains(1000, stamps)
xt, yt = grains(300, stamps)
net = PollenNet()
optimizer = optim.Adadelta(net.parameters(), lr=0.001)
for epoch in range(8):
    net.train()
    for idx in torch.randperm(1000).split(25):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} test acc {acc:.3f}")
