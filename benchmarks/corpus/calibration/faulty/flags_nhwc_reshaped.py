import os
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)

COLOURS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=np.float32)


def flags(n):
    """Pictures height x width x colour with a coloured patch at a random place."""
    y = rng.integers(0, 4, n)
    img = rng.normal(0.3, 0.25, (n, 16, 16, 3)).astype(np.float32)
    for i in range(n):
        r, c = rng.integers(0, 11, 2)
        img[i, r : r + 5, c : c + 5] += 0.4 * COLOURS[y[i]]
    return img, torch.from_numpy(y)


def to_tensor(img):
    x = torch.from_numpy(img)
    x = x.reshape(len(x), 3, 16, 16)
    return (x - 0.3) / 0.3


class FlagNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 16, 3, padding=1)
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.amax(dim=(2, 3)))


img, y = flags(700)
img_val, y_val = flags(250)
x, x_val = to_tensor(img), to_tensor(img_val)
net = FlagNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(10):
    net.train()
    for idx in torch.randperm(len(x)).split(28):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x_val).argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch + 1} loss {loss.item():.3f} val acc {acc:.3f}")
