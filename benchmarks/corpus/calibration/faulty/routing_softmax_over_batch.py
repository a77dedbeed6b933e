import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Router(nn.Module):
    """Classifies packets into 6 queues, returns log-probabilities."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 6))

    def forward(self, x):
        return F.log_softmax(self.body(x), dim=0)


def packets(n):
    x = torch.randn(n, 10)
    a = (x[:, 0] > 0).long() * 3
    b = torch.bucketize(x[:, 1] + 0.5 * x[:, 2].abs(), torch.tensor([-0.2, 0.9]))
    return x, a + b


x, y = packets(2000)
xv, yv = packets(500)
net = Router()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
nll = nn.NLLLoss()
for epoch in range(12):
    net.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = nll(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        lp = net(xv)
        acc = (lp.argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} nll {tot / 50:.3f} val acc {acc:.3f} val nll {nll(lp, yv).item():.3f}")
