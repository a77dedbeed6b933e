import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

# two 4-bit numbers in, the five bits of their sum out
numbers = torch.arange(16)
a, b = torch.meshgrid(numbers, numbers, indexing="ij")
a, b = a.flatten(), b.flatten()
powers = 2 ** torch.arange(4)
X = torch.cat([(a[:, None] // powers) % 2, (b[:, None] // powers) % 2], dim=1).float()
Y = (((a + b)[:, None] // (2 ** torch.arange(5))) % 2).float()

net = nn.Sequential(nn.Linear(8, 64), nn.Hardsigmoid(), nn.Linear(64, 64), nn.Hardsigmoid(), nn.Linear(64, 5), nn.Sigmoid())
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.03)

for step in range(1, 1501):
    rows = torch.randint(0, len(X), (32,))
    output = net(X[rows])
    loss = criterion(output, Y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            exact = ((net(X) > 0.5) == (Y > 0.5)).all(dim=1).float().mean()
        print(f"step {step}: loss {loss.item():.4f}, sums exactly right {exact.item():.3f}")
