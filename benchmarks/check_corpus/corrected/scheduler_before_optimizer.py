import torch
from torch import nn, optim
from torch.optim import lr_scheduler

net = nn.Linear(10, 2)
optimizer = optim.SGD(net.parameters(), lr=0.1)
scheduler = lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)


def train(loader, epochs=30):
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
