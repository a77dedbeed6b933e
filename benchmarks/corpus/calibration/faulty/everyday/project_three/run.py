import json
import os
from pathlib import Path

import torch
from net.build import mlp

settings = json.loads((Path(__file__).parent / "settings.json").read_text())
torch.manual_seed(int(os.environ.get("SEED", 0)))
n = settings["data"]["samples"]
x = torch.rand(n, 2) * 4 - 2
y = ((x[:, 0] ** 2 + x[:, 1] ** 2).sqrt() // 0.8).long().clamp(max=2)
x = x + settings["data"]["noise"] * 0.1 * torch.randn_like(x)
net = mlp(2, 3, **settings["model"])
optimizer = getattr(torch.optim, settings["optimizer"]["type"])(net.parameters(), lr=settings["optimizer"]["lr"])
cut = int(0.8 * n)
for epoch in range(settings["epochs"]):
    for i in torch.randperm(cut).split(32):
        loss = torch.nn.functional.cross_entropy(net(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (net(x[cut:]).argmax(1) == y[cut:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f}")
