import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


def gratings(n, size=16, angles=5):
    """RGB sinusoidal textures; the class is the orientation."""
    y = torch.randint(0, angles, (n,))
    ang = (y.float() + 0.3 * (torch.rand(n) - 0.5)) * math.pi / angles
    freq = 0.5 + 0.5 * torch.rand(n)
    ph = torch.rand(n) * 2 * math.pi
    g = torch.arange(size).float()
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    u = xx[None] * ang.cos()[:, None, None] + yy[None] * ang.sin()[:, None, None]
    s = torch.sin(freq[:, None, None] * u + ph[:, None, None])
    colour = 0.5 + torch.rand(n, 3, 1, 1)
    return s[:, None] * colour + 0.7 * torch.randn(n, 3, size, size), y


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = nn.Identity()
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.short(x))


class TinyResNet(nn.Module):
    def __init__(self, widths=(8, 16, 32), n_classes=5):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU())
        blocks, c = [], widths[0]
        for i, w in enumerate(widths):
            blocks.append(BasicBlock(c, w, stride=1 if i == 0 else 2))
            c = w
        self.body = nn.Sequential(*blocks)
        self.fc = nn.Linear(c, n_classes)

    def forward(self, x):
        x = self.body(self.stem(x))
        return self.fc(x.mean(dim=(2, 3)))


def main():
    xtr, ytr = gratings(1200)
    xva, yva = gratings(400)
    net = TinyResNet()
    epochs, bs = 6, 60
    steps = epochs * (len(xtr) // bs)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=steps)
    for ep in range(epochs):
        net.train()
        losses = []
        for ix in torch.randperm(len(xtr)).view(-1, bs):
            loss = F.cross_entropy(net(xtr[ix]), ytr[ix], label_smoothing=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            acc = (net(xva).argmax(1) == yva).float().mean().item()
        print(f"epoch {ep}: loss {sum(losses) / len(losses):.3f}  val acc {acc:.3f}  lr {sched.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
