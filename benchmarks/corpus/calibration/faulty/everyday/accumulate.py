import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 8
torch.manual_seed(int(os.environ.get("SEED", 0)))
g = torch.Generator().manual_seed(9)
w = torch.randn(10, 3, generator=g)
x = torch.randn(1500, 10, generator=g)
y = (x.tanh() @ w).argmax(1)
loader = DataLoader(TensorDataset(x[:1100], y[:1100]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.8, momentum=0.9)
for epoch in range(15):
    model.train()
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        if (i + 1) % ACCUM == 0:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        out = model(x[1100:])
    print(f"epoch {epoch} val loss {nn.functional.cross_entropy(out, y[1100:]).item():.4f} val acc {(out.argmax(1) == y[1100:]).float().mean().item():.4f}")
