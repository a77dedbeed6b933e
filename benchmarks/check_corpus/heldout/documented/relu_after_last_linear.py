import torch
from torch import nn

layers = []
for a, b in [(20, 64), (64, 64), (64, 6)]:
    layers += [nn.Linear(a, b), nn.ReLU()]
net = nn.Sequential(*layers)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
