import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def readings(n):
    x = torch.randn(n, 10)
    y = torch.sin(1.5 * x[:, 0]) + x[:, 1] * x[:, 2] - 0.5 * x[:, 3].abs()
    return x, ((y + 0.4) / 1.3).unsqueeze(1)


class ValleyNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.stack(x)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*readings(2000)), batch_size=50, shuffle=True)
    xv, yv = readings(400)
    net = ValleyNet()
    opt = torch.optim.Adagrad(net.parameters(), lr=1e-3)
    criterion = nn.MSELoss()
    for epoch in range(15):
        net.train()
        tot = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 3 == 2:
            net.eval()
            with torch.no_grad():
                print(f"epoch {epoch + 1}: train {tot / len(loader):.4f} val mse {criterion(net(xv), yv).item():.4f}")


if __name__ == "__main__":
    main()
