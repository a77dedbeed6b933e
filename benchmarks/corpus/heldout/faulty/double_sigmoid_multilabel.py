import os
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
TAGS = 8


def photos(n):
    """Each of 8 tags leaves a faint trace in a 40-d embedding."""
    y = (torch.rand(n, TAGS) < 0.15).float()
    return y @ DIR + 0.5 * torch.randn(n, 40), y


DIR = torch.randn(TAGS, 40) * 0.5


class TagNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(40, 64)
        self.fc2 = nn.Linear(64, TAGS)

    def forward(self, x):
        return torch.sigmoid(self.fc2(F.relu(self.fc1(x))))


def f1(prob, y):
    hit = (prob > 0.5).float()
    tp = (hit * y).sum()
    return (2 * tp / (hit.sum() + y.sum()).clamp(min=1)).item()


x, y = photos(1600)
xv, yv = photos(400)
net = TagNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(10):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(net(x[b]), y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} loss {tot / 40:.4f} val F1 {f1(net(xv), yv):.3f}")
