import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
np.random.seed(seed)


def textures(n, size=12):
    y = torch.randint(0, 4, (n,))
    yy, xx = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
    angle = y.float() * np.pi / 4
    proj = xx * torch.cos(angle)[:, None, None] + yy * torch.sin(angle)[:, None, None]
    img = torch.sin(1.2 * proj + torch.rand(n, 1, 1) * 6.28) + 0.6 * torch.randn(n, size, size)
    return img[:, None], y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, padding=2)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc = nn.Linear(24, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


x_tr, y_tr = textures(1000)
x_va, y_va = textures(400)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(8):
    net.train()
    tot = 0.0
    for idx in torch.randperm(1000).split(40):
        lam = float(np.random.beta(0.4, 0.4))
        other = idx[torch.randperm(len(idx))]
        mixed = lam * x_tr[idx] + (1 - lam) * x_tr[other]
        out = net(mixed)
        loss = lam * F.cross_entropy(out, y_tr[idx]) + (1 - lam) * F.cross_entropy(out, y_tr[other])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        v = net(x_va)
    print(f"epoch {epoch} mixed train loss {tot / 25:.3f} val loss {F.cross_entropy(v, y_va):.3f} val acc {(v.argmax(1) == y_va).float().mean():.3f}")
