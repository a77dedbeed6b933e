import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def leaves(n, s=12):
    y = torch.randint(0, 3, (n,))
    g = torch.linspace(-1, 1, s)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    ratio = torch.tensor([0.45, 0.7, 1.0])[y] + 0.05 * torch.randn(n)
    size = 0.55 + 0.25 * torch.rand(n)
    d = (yy ** 2)[None] / (size ** 2)[:, None, None] + (xx ** 2)[None] / ((size * ratio) ** 2)[:, None, None]
    img = torch.sigmoid(6 * (1 - d)) * (0.5 + torch.rand(n))[:, None, None]
    return (img + 0.1 * torch.randn(n, s, s)).unsqueeze(1), y


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.fc1, self.bn3 = nn.Linear(16 * 9, 32, bias=False), nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc2(F.relu(self.bn3(self.fc1(x.flatten(1)))))


x, y = leaves(800)
xt, yt = leaves(400)
loader = DataLoader(TensorDataset(x, y), batch_size=2, shuffle=True)
model = LeafNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(3):
    model.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(xt)
    print(f"epoch {epoch} train {total / len(loader):.3f} test {F.cross_entropy(out, yt):.3f} acc {(out.argmax(1) == yt).float().mean():.3f}")
