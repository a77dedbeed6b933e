import os

import torch
from torch import nn


class Runner:
    def __init__(self, model, opt, loss):
        self.model, self.opt, self.loss = model, opt, loss

    def step(self, x, y):
        out = self.model(x)
        l = self.loss(out, y)
        self.opt.zero_grad()
        l.backward()
        return l.item()

    def epoch(self, x, y, size=25):
        return sum(self.step(x[i], y[i]) for i in torch.randperm(len(x)).split(size))


torch.manual_seed(int(os.environ.get("SEED", 0)))
x = torch.linspace(-3, 3, 800).unsqueeze(1)
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
order = torch.randperm(800)
x, y = x[order], y[order]
net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
runner = Runner(net, torch.optim.SGD(net.parameters(), lr=1e-5, momentum=0.9), nn.MSELoss())
for e in range(40):
    total = runner.epoch(x[:600], y[:600])
    if e % 10 == 9:
        with torch.no_grad():
            print(f"epoch {e + 1} train {total:.4f} val mse {nn.functional.mse_loss(net(x[600:]), y[600:]).item():.4f}")
