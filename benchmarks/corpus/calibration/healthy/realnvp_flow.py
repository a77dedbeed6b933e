import math
import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Coupling(nn.Module):
    def __init__(self, flip, hidden=32):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x[:, :1], x[:, 1:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s) * 2
        b = b * s.exp() + t
        out = torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)
        return out, s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(flip=bool(i % 2)) for i in range(n))

    def log_prob(self, x):
        logdet = x.new_zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return -0.5 * (x**2).sum(1) - math.log(2 * math.pi) + logdet


def crescent(n):
    a = 0.3 * torch.randn(n)
    return torch.stack([a, 4 * a**2 - 0.3 + 0.05 * torch.randn(n)], 1)


train, val = crescent(3000), crescent(1000)
true_nll = -(torch.distributions.Normal(0, 0.3).log_prob(val[:, 0])
             + torch.distributions.Normal(4 * val[:, 0] ** 2 - 0.3, 0.05).log_prob(val[:, 1])).mean()
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 360)
for epoch in range(12):
    flow.train()
    for idx in torch.randperm(3000).split(100):
        loss = -flow.log_prob(train[idx]).mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(flow.parameters(), 2.0)
        opt.step()
        sched.step()
    if epoch % 3 == 2:
        flow.eval()
        with torch.no_grad():
            print(f"epoch {epoch + 1} val nll {-flow.log_prob(val).mean():.3f} (true density {true_nll:.3f})")
