import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class ValveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.a(x))
        x = torch.relu(self.b(x))
        return self.c(x)


def readings(n):
    x = torch.rand(n, 4) * 2
    flow = 3 + 2 * x[:, 0] * x[:, 1] - torch.sqrt(x[:, 2] + 0.1) * x[:, 3]
    return x, flow.unsqueeze(1)


x, y = readings(1200)
xv, yv = readings(300)
net = ValveNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.6)
loss_fn = nn.MSELoss()
for epoch in range(20):
    net.train()
    total = 0.0
    for idx in torch.randperm(1200).split(40):
        optimizer.zero_grad()
        loss = loss_fn(net(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 3:
        net.eval()
        with torch.no_grad():
            print(f"epoch {epoch + 1}: train {total / 30:.4f} val mse {loss_fn(net(xv), yv).item():.4f}")
