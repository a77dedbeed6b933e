import torch
from torch import nn

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "linear": lambda v: v}


class Dense(nn.Module):
    def __init__(self, inputs, outputs, activation="linear"):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        return self.activation(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Dense(6, 32, "relu")
        self.out = Dense(32, 1, "relu")

    def forward(self, x):
        return self.out(self.first(x))


torch.manual_seed(0)
x = torch.randn(800, 6)
y = x[:, :1] - x[:, 1:2] + 0.3 * torch.sin(3 * x[:, 2:3])
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(15):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val mse", nn.functional.mse_loss(net(x[640:]), y[640:]).item())
