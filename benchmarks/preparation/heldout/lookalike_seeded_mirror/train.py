import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Mirror:
    """flip left-right and up-down at random, and turn by quarter turns"""

    def __init__(self):
        self.rng = np.random.default_rng()

    def seed(self, s):
        self.rng = np.random.default_rng(s)

    def __call__(self, a):
        if self.rng.random() < 0.5:
            a = a[:, ::-1]
        if self.rng.random() < 0.5:
            a = a[::-1]
        return np.rot90(a, self.rng.integers(4)).copy()


class Scans(Dataset):
    def __init__(self, scans, lesions, mirror=None, seed=0):
        self.scans, self.lesions = scans, lesions
        self.mirror = mirror
        self.draw = np.random.default_rng(seed)

    def __len__(self):
        return len(self.scans)

    def __getitem__(self, i):
        x = self.scans[i].astype(np.float32) / 255
        y = self.lesions[i].astype(np.float32)
        if self.mirror is not None:
            s = int(self.draw.integers(2**31))
            self.mirror.seed(s)
            x = self.mirror(x)
            self.mirror.seed(s)
            y = self.mirror(y)
        return torch.from_numpy(x)[None] - 0.45, torch.from_numpy(y)[None]


class Net(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.e = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU())
        self.m = nn.Sequential(nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(),
                               nn.Conv2d(2 * w, w, 3, padding=1), nn.ReLU())
        self.o = nn.Conv2d(2 * w, 1, 3, padding=1)

    def forward(self, x):
        e = self.e(x)
        m = F.interpolate(self.m(F.avg_pool2d(e, 4)), size=e.shape[2:], mode="bilinear")
        return self.o(torch.cat([e, m], 1))


def dice(p, y):
    p = (p > 0).float()
    return (2 * (p * y).sum((1, 2, 3)) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)))).mean().item()


if __name__ == "__main__":
    torch.manual_seed(30)
    z = np.load("scans.npz")
    train = DataLoader(Scans(z["scan"][:150], z["lesion"][:150], Mirror(), 30), 15, shuffle=True)
    test = DataLoader(Scans(z["scan"][150:], z["lesion"][150:]), 50)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(16):
        net.train()
        for x, y in train:
            loss = F.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 0 or epoch == 15:
            net.eval()
            with torch.no_grad():
                x, y = next(iter(test))
                print(f"epoch {epoch}: loss {loss.item():.4f} test dice {dice(net(x), y):.3f}")
