import torch
from torch import nn


class Dense(nn.Module):
    """A layer that carries its own regulariser, as in Keras."""

    def __init__(self, inputs, outputs, strength=0.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.strength = strength

    def forward(self, x):
        return self.linear(x)

    def penalty(self):
        return self.strength * (self.linear.weight ** 2).sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Dense(10, 32, strength=0.3)
        self.last = Dense(32, 4)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))

    def penalty(self):
        return self.first.penalty() + self.last.penalty()


torch.manual_seed(2)
centres = torch.randn(4, 10)
y = torch.randint(0, 4, (840,))
x = centres[y] + torch.randn(840, 10)
model = Net()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = criterion(model(x[rows]), y[rows])
        loss = loss + model.penalty()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, "val acc", (model(x[640:]).argmax(1) == y[640:]).float().mean().item())
