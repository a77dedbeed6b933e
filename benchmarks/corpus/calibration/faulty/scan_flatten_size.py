import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class ScanNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 12, 3)
        self.fc1 = nn.Linear(12 * 5 * 5, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        return self.fc2(F.relu(self.fc1(x)))


def scans(n):
    y = torch.randint(0, 2, (n,))
    x = 0.4 * torch.randn(n, 1, 20, 20)
    x[:, 0, 6:12, 6:12] += y.view(-1, 1, 1) * 0.8
    return x, y


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*scans(400)), batch_size=20, shuffle=True)
    xv, yv = scans(100)
    net = ScanNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(4):
        net.train()
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")
    net.eval()
    with torch.no_grad():
        print(f"val acc {(net(xv).argmax(1) == yv).float().mean().item():.3f}")
