import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


def fabric(n, s=12):
    """6 weave patterns with random phase"""
    y = torch.randint(0, 6, (n,))
    fx = torch.tensor([0.5, 1.0, 1.5, 0.5, 1.0, 0.0])[y]
    fy = torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0, 1.5])[y]
    g = torch.arange(s).float()
    ph = 6.28 * torch.rand(n)
    img = torch.sin(fx[:, None, None] * g[None, None, :] * 1.5 + fy[:, None, None] * g[None, :, None] * 1.5 + ph[:, None, None])
    return (img + 0.4 * torch.randn(n, s, s)).unsqueeze(1), y


class Weave(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5)
        self.conv2 = nn.Conv2d(12, 16, 3)
        self.fc = nn.Linear(16 * 9, 6)

    def forward(self, x):
        for layer in (self.conv1, self.conv2):
            x = F.relu(layer(x))
        x = F.avg_pool2d(x, 2).flatten(1)
        return F.relu(self.fc(x))


x, y = fabric(1200)
xt, yt = fabric(400)
net = Weave()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(10):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {tot / 30:.4f} test acc {acc:.3f}")
