import os
from torch import nn
import torch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(14, 10), nn.ReLU(), nn.Linear(10, 6), nn.ReLU())
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        return self.head(self.backbone(x))


def molecules(n):
    x = torch.rand(n, 14) * 2 - 1
    y = torch.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] * 2 + (x[:, 3] + x[:, 4]).abs()
    return x, ((y - 0.65) / 1.0).unsqueeze(1)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = molecules(2000)
    xv, yv = molecules(500)
    net = Net()
    opt = torch.optim.Adam(net.head.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(20):
        net.train()
        for idx in torch.randperm(2000).split(50):
            opt.zero_grad()
            loss = loss_fn(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
        if epoch % 4 == 3:
            net.eval()
            with torch.no_grad():
                print(f"epoch {epoch + 1}: train {loss.item():.4f} val mse {loss_fn(net(xv), yv).item():.4f}")


main()
