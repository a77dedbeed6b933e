import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))
ICONS = (torch.rand(6, 6, 6) < 0.5).float()


def icons(n, s=14):
    y = torch.randint(0, 6, (n,))
    x = 0.2 * torch.randn(n, 1, s, s)
    for i in range(n):
        r, c = torch.randint(0, s - 6, (2,)).tolist()
        x[i, 0, r:r + 6, c:c + 6] += ICONS[y[i]]
    return x, y


class IconNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 49, 128)
        self.fc2 = nn.Linear(128, 6)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.conv(x)), 2).flatten(1)
        return self.fc2(F.relu(self.fc1(h)))


def augment(batch):
    return batch


x, y = icons(240)
xv, yv = icons(400)
net = IconNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(30):
    net.train()
    s = 0.0
    for b in torch.randperm(len(x)).split(24):
        opt.zero_grad()
        loss = F.cross_entropy(net(augment(x[b])), y[b])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"epoch {epoch} train {s / 10:.4f} val {F.cross_entropy(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
