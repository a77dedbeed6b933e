import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
DROP = 0.01


class Wide(nn.Module):
    def __init__(self, d, width=256):
        super().__init__()
        self.drop_in = nn.Dropout(DROP)
        self.fc1 = nn.Linear(d, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 3)
        self.drop = nn.Dropout(DROP)

    def forward(self, x):
        x = self.drop(torch.relu(self.fc1(self.drop_in(x))))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.out(x)


M = torch.randn(60, 3) * (torch.arange(60) < 15)[:, None]


def assays(n):
    x = torch.randn(n, 60)
    return x, (x @ M + 2.5 * torch.randn(n, 3)).argmax(1)


x, y = assays(200)
xv, yv = assays(600)
net = Wide(60)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(25):
    net.train()
    s = 0.0
    for b in torch.randperm(len(x)).split(8):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"epoch {epoch} train {s / 25:.4f} val {nn.functional.cross_entropy(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
