import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TerrainNet(nn.Module):
    def __init__(self, n_in=3, width=16, depth=4):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.layers = [nn.Linear(width, width) for _ in range(depth)]
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.last(x)


def heights(n):
    p = torch.rand(n, 3) * 4 - 2
    z = torch.sin(2 * p[:, 0]) * torch.cos(2 * p[:, 1]) + 0.5 * torch.sin(3 * p[:, 2])
    return p, z.unsqueeze(1)


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    dl = DataLoader(TensorDataset(*heights(3000)), batch_size=100, shuffle=True)
    pv, zv = heights(500)
    net = TerrainNet(width=32)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    mse = nn.MSELoss()
    for epoch in range(16):
        net.train()
        for p, z in dl:
            loss = mse(net(p), z)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 3 == 0:
            net.eval()
            with torch.no_grad():
                print(f"epoch {epoch} train {loss.item():.4f} val mse {mse(net(pv), zv).item():.4f}")
