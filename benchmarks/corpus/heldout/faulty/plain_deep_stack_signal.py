import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
DEPTH, WIDTH = 14, 32


def knots(n):
    y = torch.randint(0, 4, (n,))
    t = torch.rand(n) * 6.28
    x = torch.stack([torch.cos(t * (1 + y)), torch.sin(t * (2 + y % 2)), torch.cos(t), torch.sin(t), y * 0.5 + 0.2 * torch.randn(n)], 1)
    return x + 0.08 * torch.randn(n, 5), y


def stack(depth, width):
    mods = [nn.Linear(5, width), nn.ReLU()]
    for _ in range(depth):
        mods += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*mods, nn.Linear(width, 4))


x, y = knots(1600)
xt, yt = knots(400)
model = stack(DEPTH, WIDTH)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
ce = nn.CrossEntropyLoss()
for epoch in range(10):
    model.train()
    tot = 0.0
    for idx in torch.randperm(len(x)).split(64):
        opt.zero_grad()
        loss = ce(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {tot / 25:.4f} acc {acc:.3f}")
