import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PoseNet(nn.Module):
    def __init__(self, n_in=8, width=32, depth=5):
        super().__init__()
        dims = [n_in] + [width] * depth
        self.hidden = nn.ModuleList([nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:])])
        self.out = nn.Linear(width, 3)
        for lin in self.hidden:
            lin.weight.data.normal_(0.0, 1e-3)
            lin.bias.data.zero_()

    def forward(self, x):
        for lin in self.hidden:
            x = torch.relu(lin(x))
        return self.out(x)


def poses(n, w):
    a = torch.rand(n, 8) * 2 - 1
    return a, torch.stack([torch.sin(2 * a @ w[0]), a[:, 0] * a[:, 1] * 2, torch.cos(a @ w[1])], dim=1)


torch.manual_seed(int(os.environ.get("SEED", "0")))
w = torch.randn(2, 8) * 0.5
loader = DataLoader(TensorDataset(*poses(2500, w)), batch_size=50, shuffle=True)
xv, yv = poses(400, w)
net = PoseNet()
optim = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
mse = nn.MSELoss()
for epoch in range(16):
    net.train()
    tot = 0.0
    for xb, yb in loader:
        optim.zero_grad()
        loss = mse(net(xb), yb)
        loss.backward()
        optim.step()
        tot += loss.item()
    if epoch % 3 == 0:
        net.eval()
        with torch.no_grad():
            print(f"epoch {epoch}: train {tot / len(loader):.4f} val mse {mse(net(xv), yv).item():.4f}")
