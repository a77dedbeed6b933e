import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

seed = int(os.environ.get("SEED", "0"))
rng = np.random.RandomState(seed)
torch.manual_seed(seed)
H = W = 16


def sign(kind):
    """kind = shape (disc / square / bar) x colour (red / blue)"""
    img = rng.normal(0, 0.25, (H, W, 3))
    cy, cx, r = rng.randint(5, 11), rng.randint(5, 11), rng.randint(3, 5)
    yy, xx = np.mgrid[:H, :W]
    shape, colour = kind % 3, kind // 3
    if shape == 0:
        m = (yy - cy) ** 2 + (xx - cx) ** 2 <= r * r
    elif shape == 1:
        m = (abs(yy - cy) == r) | (abs(xx - cx) == r)
        m &= (abs(yy - cy) <= r) & (abs(xx - cx) <= r)
    else:
        m = (abs(yy - cy) <= 1) & (abs(xx - cx) <= r + 1)
    img[m, 0 if colour == 0 else 2] += 1.0
    img[m, 1] += 0.3
    return img


def load(n):
    kinds = rng.randint(0, 6, n)
    imgs = np.stack([sign(k) for k in kinds]).astype(np.float32)
    tensor = torch.from_numpy(imgs).reshape(n, 3, H, W)
    return tensor, torch.from_numpy(kinds)


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(16, 6)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.head(F.adaptive_max_pool2d(x, 1).flatten(1))


train_x, train_y = load(480)
test_x, test_y = load(400)
net = SignNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for ep in range(16):
    net.train()
    for idx in torch.randperm(len(train_x)).split(40):
        opt.zero_grad()
        loss = F.cross_entropy(net(train_x[idx]), train_y[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        logits = net(test_x)
        print("epoch %2d  train %.3f  test %.3f  acc %.3f" % (
            ep, loss.item(), F.cross_entropy(logits, test_y).item(), (logits.argmax(1) == test_y).float().mean().item()))
