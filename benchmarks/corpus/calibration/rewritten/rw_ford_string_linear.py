import torch
import torch.nn.functional as F
from torch import nn

ACTIVATION = "linear"
FUNCTIONS = {"linear": lambda v: v, "relu": torch.relu, "tanh": torch.tanh}


class Dense(nn.Module):
    def __init__(self, inputs, outputs, activation):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation = FUNCTIONS[activation]

    def forward(self, x):
        return self.activation(self.linear(x))


torch.manual_seed(1)
x = torch.randn(900, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(Dense(2, 32, ACTIVATION), Dense(32, 32, ACTIVATION), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(700).split(32):
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
