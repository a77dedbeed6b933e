import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class PixelNet(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.inp = nn.Conv2d(1, 8, 3, padding=1)
        self.mid = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(depth))
        self.act = nn.Hardsigmoid()
        self.fc = nn.Linear(8 * 16, 4)

    def forward(self, x):
        x = self.act(self.inp(x))
        for conv in self.mid:
            x = self.act(conv(x))
        return self.fc(nn.functional.adaptive_avg_pool2d(x, 4).flatten(1))


def corners(n, s=8):
    y = torch.randint(0, 4, (n,))
    x = 0.3 * torch.randn(n, 1, s, s)
    for i, k in enumerate(y.tolist()):
        r, c = (k // 2) * 4 + int(torch.randint(0, 2, ())), (k % 2) * 4 + int(torch.randint(0, 2, ()))
        x[i, 0, r:r + 3, c:c + 3] += 1.0
    return x, y


x, y = corners(1000)
xv, yv = corners(300)
net = PixelNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = loss_fn(net(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} loss {tot / 25:.4f} val acc {acc:.3f}")
