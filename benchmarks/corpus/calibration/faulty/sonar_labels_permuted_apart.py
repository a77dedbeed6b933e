import os
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class SonarData(Dataset):
    def __init__(self, x, y, rng):
        self.x = torch.from_numpy(x[rng.permutation(len(x))])
        self.y = torch.from_numpy(y[rng.permutation(len(y))])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def pings(n, echo, rng):
    y = rng.integers(0, 4, n)
    x = echo[y] + 0.6 * rng.normal(size=(n, 24))
    return x.astype(np.float32), y


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    echo = rng.normal(size=(4, 24))
    train = DataLoader(SonarData(*pings(1000, echo, rng), rng), batch_size=25, shuffle=True)
    xv, yv = pings(300, echo, rng)
    xv, yv = torch.from_numpy(xv), torch.from_numpy(yv)
    net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(8):
        net.train()
        tot = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch}: loss {tot / len(train):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
