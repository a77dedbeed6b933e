import torch
import torch.nn.functional as F
from torch import nn

CONFIG = {"hidden": "relu", "output": "tanh", "units": 24, "lr": 0.01}


def activation(name):
    return {"relu": nn.ReLU(), "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid()}[name]


torch.manual_seed(2)
x = torch.randn(840, 6)
y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).float().unsqueeze(1)
net = nn.Sequential(
    nn.Linear(6, CONFIG["units"]),
    activation(CONFIG["hidden"]),
    nn.Linear(CONFIG["units"], 1),
    activation(CONFIG["output"]),
)
opt = torch.optim.Adam(net.parameters(), lr=CONFIG["lr"])
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        p = net(x[rows]).clamp(1e-7, 1 - 1e-7)
        loss = F.binary_cross_entropy(p, y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", ((net(x[640:]) > 0.5).float() == y[640:]).float().mean().item())
