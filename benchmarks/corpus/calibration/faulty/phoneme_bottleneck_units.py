import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
K, D = 12, 30
proto = torch.randn(K, 2, D)


def frames(n):
    k = torch.randint(0, K, (n,))
    v = torch.randint(0, 2, (n,))
    return proto[k, v] + 0.9 * torch.randn(n, D), k


model = nn.Sequential()
model.add_module("in", nn.Linear(D, 64))
model.add_module("act0", nn.ReLU())
model.add_module("mid", nn.Linear(64, 1))
model.add_module("act1", nn.ReLU())
model.add_module("up", nn.Linear(1, 64))
model.add_module("act2", nn.ReLU())
model.add_module("out", nn.Linear(64, K))

x, y = frames(2400)
xt, yt = frames(600)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
crit = nn.CrossEntropyLoss()
for epoch in range(15):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(60):
        opt.zero_grad()
        l = crit(model(x[b]), y[b])
        l.backward()
        opt.step()
        tot += l.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
    print(f"{epoch:02d} train_loss={tot / 40:.3f} test_acc={acc:.3f}")
