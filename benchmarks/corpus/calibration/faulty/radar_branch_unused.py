import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class TwoBranchNet(nn.Module):
    """One branch for the range profile, one for the velocity profile."""

    def __init__(self, classes=4):
        super().__init__()
        self.range_fc = nn.Linear(20, 24)
        self.velocity_fc = nn.Linear(10, 24)
        self.mix = nn.Linear(48, 32)
        self.out = nn.Linear(32, classes)

    def forward(self, rng_profile, vel_profile):
        a = F.relu(self.range_fc(rng_profile))
        b = F.relu(self.velocity_fc(vel_profile))
        h = torch.cat([a, a], dim=1)
        h = F.relu(self.mix(h))
        return self.out(h)


def targets(n, pr, pv):
    y = torch.randint(0, 4, (n,))
    r = pr[y // 2] + 0.6 * torch.randn(n, 20)
    v = pv[y % 2] + 0.6 * torch.randn(n, 10)
    return r, v, y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    pr, pv = torch.randn(2, 20), torch.randn(2, 10)
    loader = DataLoader(TensorDataset(*targets(1000, pr, pv)), batch_size=25, shuffle=True)
    rv, vv, yv = targets(400, pr, pv)
    net = TwoBranchNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(8):
        net.train()
        tot = 0.0
        for r, v, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(r, v), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(rv, vv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {tot / len(loader):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
