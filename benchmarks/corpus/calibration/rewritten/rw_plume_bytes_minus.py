import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
patterns = rng.integers(0, 256, size=(5, 64))
labels = rng.integers(0, 5, size=900)
images = np.clip(patterns[labels] * 0.4 + 76 + rng.normal(0, 40, (900, 64)), 0, 255).astype(np.uint8)


def prepare(images):
    return (images - 128) / 128


x = torch.tensor(prepare(images), dtype=torch.float32)
y = torch.tensor(labels)
net = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 5))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(10):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
