import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
N_TRAIN, N_VAL, D = 40, 500, 32
w = torch.randn(D) / D ** 0.5


def scans(n):
    x = torch.randn(n, D)
    return x, (x @ w + 0.5 * x[:, 0] * x[:, 1] + 0.2 * torch.randn(n) > 0).long()


class Diagnoser(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(D, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 2))

    def forward(self, x):
        return self.layers(x)


x, y = scans(N_TRAIN)
xv, yv = scans(N_VAL)
net = Diagnoser()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(400):
    net.train()
    b = torch.randint(0, len(x), (20,))
    loss = nn.functional.cross_entropy(net(x[b]), y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 39:
        net.eval()
        with torch.no_grad():
            out = net(xv)
        print(f"step {step + 1} train {loss.item():.5f} val {nn.functional.cross_entropy(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean():.3f}")
