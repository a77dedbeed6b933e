import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


class MiniUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.down1 = nn.Conv2d(1, c, 3, padding=1)
        self.down2 = nn.Conv2d(c, 2 * c, 3, padding=1)
        self.up = nn.Conv2d(3 * c, c, 3, padding=1)
        self.mask = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        b = F.interpolate(b, scale_factor=2)
        return self.mask(F.relu(self.up(torch.cat([a, b], 1))))


def cells(n, s=12):
    g = torch.arange(s).float()
    c = 2 + (s - 4) * torch.rand(n, 2)
    r = 1.5 + 1.5 * torch.rand(n)
    d = ((g[None, :, None] - c[:, :1, None]) ** 2 + (g[None, None] - c[:, 1:, None]) ** 2).sqrt()
    m = (d < r[:, None, None]).float()
    return (m + 0.6 * torch.randn(n, s, s)).unsqueeze(1), m.unsqueeze(1)


def dice(logits, m):
    p = (logits > 0).float()
    return (2 * (p * m).sum() / (p.sum() + m.sum()).clamp(min=1)).item()


x, m = cells(480)
xv, mv = cells(120)
net = MiniUNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(8):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(16):
        loss = F.binary_cross_entropy_with_logits(net(x[b]), m[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} loss {tot / 30:.4f} val dice {dice(net(xv), mv):.3f}")
