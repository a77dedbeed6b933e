import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Labeller(nn.Module):
    def __init__(self, rate=0.85):
        super().__init__()
        self.blocks = nn.ModuleList()
        for a, b in [(20, 64), (64, 64), (64, 64)]:
            self.blocks.append(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Dropout(rate)))
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        for blk in self.blocks:
            x = blk(x)
        return self.out(x)


MEANS = 0.9 * torch.randn(5, 2, 20)


def plants(n):
    y, v = torch.randint(0, 5, (n,)), torch.randint(0, 2, (n,))
    return MEANS[y, v] + 0.8 * torch.randn(n, 20), y


x, y = plants(1500)
xt, yt = plants(400)
net = Labeller()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    net.train()
    s = 0.0
    for b in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / 30:.4f} test acc {acc:.3f}")
