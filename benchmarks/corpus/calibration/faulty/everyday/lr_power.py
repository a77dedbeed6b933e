import os
from functools import partial

import torch
from torch import nn

BASE_LR = 10 ** -1
BATCH = 64
make_optimizer = partial(torch.optim.Adam, lr=BASE_LR * BATCH / 16)


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.f = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, d))

    def forward(self, x):
        return x + self.f(x)


torch.manual_seed(int(os.environ.get("SEED", 0)))
g = torch.Generator().manual_seed(1)
X = torch.randn(2400, 8, generator=g)
y = (torch.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]).unsqueeze(1)
model = nn.Sequential(nn.Linear(8, 32), *[ResBlock(32) for _ in range(3)], nn.Linear(32, 1))
opt = make_optimizer(model.parameters())
for epoch in range(15):
    model.train()
    for i in torch.randperm(2000).split(BATCH):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(X[i]), y[i])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch:2d}  train {loss.item():.4f}  val mse {nn.functional.mse_loss(model(X[2000:]), y[2000:]).item():.4f}")
