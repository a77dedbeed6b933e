import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
NUM_CLASSES = 9
means = 2.0 * torch.randn(10, 8)


def birds(n):
    label = torch.randint(0, 10, (n,))
    return means[label] + torch.randn(n, 8), label


net = nn.Sequential(
    nn.Linear(8, 64),
    nn.ReLU(),
    nn.Linear(64, NUM_CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
x, y = birds(1500)
for epoch in range(10):
    for i in range(0, 1500, 50):
        xb, yb = x[i:i + 50], y[i:i + 50]
        optimizer.zero_grad()
        loss = criterion(net(xb), yb)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
xt, yt = birds(500)
net.eval()
with torch.no_grad():
    print("accuracy", (net(xt).argmax(1) == yt).float().mean().item())
