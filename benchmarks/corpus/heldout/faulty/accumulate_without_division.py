import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
ACCUM_STEPS = 24


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc1 = nn.Linear(8 * 8 * 8, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        h = torch.relu(self.conv(x)).flatten(1)
        return self.fc2(torch.relu(self.fc1(h))).flatten()


def bars(n):
    """Regress the tilt of a bright bar."""
    ang = (torch.rand(n) - 0.5) * 2
    g = torch.linspace(-1, 1, 10)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    d = (yy[None] - ang[:, None, None] * xx[None]).abs()
    return (torch.exp(-d ** 2 / 0.05) + 0.1 * torch.randn(n, 10, 10)).unsqueeze(1), 2 * ang


x, y = bars(1920)
xv, yv = bars(300)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
for epoch in range(10):
    net.train()
    running = 0.0
    for idx in torch.randperm(len(x)).split(8):
        loss = nn.functional.mse_loss(net(x[idx]), y[idx])
        loss.backward()
        running += loss.item()
        step += 1
        if step % ACCUM_STEPS == 0:
            opt.step()
            opt.zero_grad()
    net.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(net(xv), yv).item()
    print(f"epoch {epoch} train {running / 240:.4f} val {v:.4f}")
