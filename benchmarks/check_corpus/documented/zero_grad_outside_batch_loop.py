import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    ds = TensorDataset(torch.randn(640, 5), torch.randn(640, 1))
    loader = DataLoader(ds, batch_size=64, shuffle=True)
    net = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(10):
        opt.zero_grad()
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()


main()
