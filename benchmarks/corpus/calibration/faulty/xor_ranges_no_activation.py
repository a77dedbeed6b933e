import os

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def parity_points(n):
    x = torch.rand(n, 3) * 2 - 1
    y = ((x[:, 0] > 0) ^ (x[:, 1] > 0) ^ (x[:, 2] > 0)).long()
    return x, y


train = DataLoader(TensorDataset(*parity_points(1500)), batch_size=50, shuffle=True)
x_test, y_test = parity_points(500)
net = nn.Sequential(
    nn.Linear(3, 64),
    nn.Linear(64, 64),
    nn.Linear(64, 2),
)
optimizer = optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(15):
    net.train()
    total = 0.0
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(net(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {total / len(train):.4f}")

net.eval()
with torch.no_grad():
    print(f"test accuracy {(net(x_test).argmax(1) == y_test).float().mean().item():.3f}")
