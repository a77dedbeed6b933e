"""Soft mixture of experts with a load-balancing term on a piecewise function."""
import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class MoE(nn.Module):
    def __init__(self, d_in=2, n_experts=4, hidden=24):
        super().__init__()
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d_in, hidden), nn.Tanh(), nn.Linear(hidden, 1)) for _ in range(n_experts)
        )
        self.gate = nn.Sequential(nn.Linear(d_in, 32), nn.ReLU(), nn.Linear(32, n_experts))

    def forward(self, x):
        w = self.gate(x).softmax(dim=-1)
        y = torch.cat([e(x) for e in self.experts], dim=-1)
        return (w * y).sum(-1, keepdim=True), w


def piecewise(n):
    x = torch.rand(n, 2) * 4 - 2
    quadrant = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    fs = torch.stack([x[:, 0] * x[:, 1], torch.sin(2 * x[:, 0]), 1 - x[:, 1] ** 2 / 2, -x.sum(1) * 0.5], 1)
    y = fs.gather(1, quadrant[:, None])
    return x, y + 0.05 * torch.randn_like(y)


X, Y = piecewise(3000)
X_val, Y_val = piecewise(800)
model = MoE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[250, 400], gamma=0.3)
for step in range(500):
    idx = torch.randint(0, len(X), (128,))
    pred, w = model(X[idx])
    usage = w.mean(0)
    balance = (usage * usage.log()).sum()
    loss = nn.functional.mse_loss(pred, Y[idx]) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if (step + 1) % 100 == 0:
        model.eval()
        with torch.no_grad():
            p, w = model(X_val)
            val = nn.functional.mse_loss(p, Y_val).item()
        model.train()
        print(f"{step + 1:4d} loss {loss.item():.4f} val mse {val:.4f} usage {[round(u, 2) for u in w.mean(0).tolist()]}")
print("target variance", round(Y_val.var().item(), 3))
