import os
import numpy as np
import torch
import torch.nn as nn


class LensNet(nn.Module):
    """1-D profile -> focal class"""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 5, padding=2)
        self.conv2 = nn.Conv1d(16, 16, 5, padding=2)
        self.pool = nn.AdaptiveAvgPool1d(4)
        self.fc = nn.Linear(16 * 4, 3)

    def forward(self, x):
        x = self.conv1(x)
        x = self.conv2(x)
        x = self.pool(x).flatten(1)
        return self.fc(x)


def profiles(n, rng):
    kind = rng.integers(0, 3, n)
    t = np.linspace(0, 1, 40)
    freq = np.array([3, 6, 10])[kind][:, None] + rng.uniform(-0.5, 0.5, (n, 1))
    sig = np.sin(2 * np.pi * (freq * t + rng.random((n, 1)))) + 0.3 * rng.normal(size=(n, 40))
    return torch.tensor(sig[:, None], dtype=torch.float32), torch.tensor(kind)


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x, y = profiles(900, rng)
    xv, yv = profiles(300, rng)
    net = LensNet()
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(12):
        net.train()
        for idx in torch.randperm(len(x)).split(30):
            opt.zero_grad()
            loss = crit(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            out = net(xv)
        print(f"epoch {epoch} train {loss.item():.3f} val {crit(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean():.3f}")


if __name__ == "__main__":
    main()
