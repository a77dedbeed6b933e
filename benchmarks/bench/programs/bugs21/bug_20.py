import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def footprints(n, s=10):
    y = torch.randint(0, 5, (n,))
    x = 0.4 * torch.randn(n, 1, s, s)
    for i, k in enumerate(y.tolist()):
        r, c = torch.randint(1, s - 4, (2,)).tolist()
        for j in range(k + 1):
            x[i, 0, r + j % 3, c + (2 * j) % 4] += 2.0
    return x, y


class FootNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3)
        self.conv2 = nn.Conv2d(12, 16, 3)
        self.fc1 = nn.Linear(16 * 9, 48)
        self.fc2 = nn.Linear(48, 5)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        x = nn.functional.max_pool2d(x, 2).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


x, y = footprints(1200)
xt, yt = footprints(300)
net = FootNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
for epoch in range(10):
    net.train()
    s = 0.0
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / 40:.4f} test acc {acc:.3f}")
