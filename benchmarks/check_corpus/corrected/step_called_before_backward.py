import torch
from torch import nn


def fit(net, loader, epochs):
    criterion = nn.SmoothL1Loss()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, loss.item())
