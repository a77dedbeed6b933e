import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))

# wine "quality" grades 0..4 as an ordinal target: P(y > k) by cumulative logits with shared weights
LEVELS = 5


class CumulativeNet(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(d, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1, bias=False))
        self.first = nn.Parameter(torch.tensor(1.0))
        self.gaps = nn.Parameter(torch.zeros(LEVELS - 2))

    def cutpoints(self):
        steps = F.softplus(self.gaps)
        return torch.cat([-self.first.view(1), -self.first + steps.cumsum(0)])

    def forward(self, x):
        return self.score(x) - self.cutpoints()


def sample(n):
    x = torch.randn(n, 8)
    q = 1.2 * x[:, 0] - x[:, 1] * x[:, 2] + 0.8 * x[:, 3].abs() + 0.15 * torch.randn(n)
    cuts = torch.tensor([-1.2, -0.1, 0.9, 2.0])
    return x, torch.bucketize(q, cuts)


def encode(y):
    return (y[:, None] > torch.arange(LEVELS - 1)).float()


x_tr, y_tr = sample(3000)
x_te, y_te = sample(1000)
net = CumulativeNet(8)
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-2, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
step = 0
for epoch in range(20):
    for b in torch.randperm(len(x_tr)).split(100):
        loss = F.binary_cross_entropy_with_logits(net(x_tr[b]), encode(y_tr[b]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    scheduler.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            pred = (net(x_te) > 0).sum(1)
        mae = (pred - y_te).abs().float().mean().item()
        print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f}  acc {(pred == y_te).float().mean().item():.3f}  MAE {mae:.3f} grades")
print("cutpoints", [round(c, 2) for c in net.cutpoints().tolist()])
