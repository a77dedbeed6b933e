import torch
import torch.nn.functional as F
from torch import nn


class Dense(nn.Module):
    def __init__(self, inputs, outputs, activation=None):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation = activation

    def forward(self, x):
        x = self.linear(x)
        if self.activation == "relu":
            x = F.relu(x)
        elif self.activation == "softmax":
            x = F.softmax(x, dim=1)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Dense(10, 40, activation="relu")
        self.out = Dense(40, 6, activation="softmax")

    def forward(self, x):
        return self.out(self.first(x))


torch.manual_seed(0)
centres = torch.randn(6, 10) * 1.2
y = torch.randint(0, 6, (840,))
x = centres[y] + torch.randn(840, 10)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (net(x[640:]).argmax(1) == y[640:]).float().mean().item())
