import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def tiles(n, rng):
    """Brightness tiles: is the disturbed square brighter or darker than its surroundings?"""
    y = rng.integers(0, 2, n)
    img = rng.normal(128, 12, (n, 10, 10))
    for i in range(n):
        r, c = rng.integers(0, 7, 2)
        img[i, r : r + 3, c : c + 3] += 14 if y[i] else -14
    return img.clip(0, 255).astype(np.uint8), y


def preprocess(img, mean):
    centred = img - mean
    return torch.from_numpy(centred).float().unsqueeze(1) / 64


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3)
        self.fc = nn.Linear(12 * 2, 2)

    def forward(self, x):
        x = torch.tanh(self.conv(x))
        return self.fc(torch.cat([x.amax((2, 3)), x.amin((2, 3))], dim=1))


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    img, y = tiles(1200, rng)
    img_v, y_v = tiles(400, rng)
    mean = np.uint8(round(img.mean()))
    x, xv = preprocess(img, mean), preprocess(img_v, mean)
    loader = DataLoader(TensorDataset(x, torch.from_numpy(y)), batch_size=40, shuffle=True)
    yv = torch.from_numpy(y_v)
    net = TileNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(12):
        net.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
