import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

x = torch.randn(600, 18)
y = (x[:, :3].sum(1) > 0).long()

mlp = nn.Sequential(
    nn.Linear(18, 64),
    nn.ReLU(),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(64, 2),
)
opt = torch.optim.Adam(mlp.parameters(), lr=3e-3)
for epoch in range(6):
    for idx in torch.randperm(500).split(50):
        loss = nn.functional.cross_entropy(mlp(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss %.3f" % loss.item())
with torch.no_grad():
    print("test acc %.3f" % (mlp(x[500:]).argmax(1) == y[500:]).float().mean().item())
