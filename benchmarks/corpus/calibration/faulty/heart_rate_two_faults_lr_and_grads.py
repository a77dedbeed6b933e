import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class HeartNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.Linear(7, 48)
        self.h2 = nn.Linear(48, 48)
        self.o = nn.Linear(48, 1)

    def forward(self, x):
        return self.o(torch.relu(self.h2(torch.relu(self.h(x))))).squeeze(1)


def people(n):
    x = torch.randn(n, 7)
    y = 0.8 * x[:, 0] + x[:, 1] * x[:, 2] - 0.5 * x[:, 3] ** 2 + 0.5
    return x, y / 1.4


x, y = people(1600)
xv, yv = people(400)
net = HeartNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.3)
loss_fn = nn.MSELoss()
for epoch in range(10):
    net.train()
    tot = 0.0
    for idx in torch.randperm(1600).split(40):
        loss = loss_fn(net(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch}: train {tot / 40:.4f} val mse {loss_fn(net(xv), yv).item():.4f}")
