import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
HIDDEN, STD = 32, 1e-3


def enzymes(n):
    x = torch.randn(n, 8)
    act = torch.tanh(x[:, 0] * x[:, 1]) + 0.5 * torch.relu(x[:, 2]) - 0.3 * x[:, 3]
    return x, act + 0.05 * torch.randn(n)


def make():
    net = nn.Sequential(nn.Linear(8, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    for p in net.parameters():
        if p.dim() > 1:
            nn.init.normal_(p, 0.0, STD)
        else:
            nn.init.zeros_(p)
    return net


net = make()
x, y = enzymes(2000)
xt, yt = enzymes(500)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(15):
    net.train()
    for b in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = ((net(x[b])[:, 0] - y[b]) ** 2).mean()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        mse = ((net(xt)[:, 0] - yt) ** 2).mean()
        print(f"epoch {epoch} test R2 {(1 - mse / yt.var()).item():.3f}")
