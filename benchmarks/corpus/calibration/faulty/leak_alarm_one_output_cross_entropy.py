import os
import torch
from torch import nn, optim

torch.manual_seed(int(os.environ.get("SEED", "0")))


def pipes(n):
    x = torch.randn(n, 6)
    leak = ((x[:, 0] + x[:, 1] * x[:, 2]) > 0.2).float().unsqueeze(1)
    return x, leak


x_train, y_train = pipes(1600)
x_test, y_test = pipes(400)

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(10):
    net.train()
    losses = []
    for idx in torch.randperm(1600).split(40):
        optimizer.zero_grad()
        loss = criterion(net(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        acc = ((net(x_test) > 0).float() == y_test).float().mean().item()
    print("epoch %d loss %.4f test acc %.3f" % (epoch, sum(losses) / len(losses), acc))
