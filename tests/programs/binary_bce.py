"""Binary classifier ending in a Sigmoid, BCELoss, SGD."""

import torch
import torch.nn as nn
from common import finish, seed_everything

seed_everything(26)
x = torch.randn(96, 2)
y = ((x[:, 0] * x[:, 1]) > 0).float().unsqueeze(1)


class XorNet(nn.Module):
    def __init__(self):
        super(XorNet, self).__init__()
        self.fc1 = nn.Linear(2, 8)
        self.fc2 = nn.Linear(8, 1)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        return self.sigmoid(self.fc2(x))


net = XorNet()
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for epoch in range(40):
    output = net(x)
    loss = criterion(output, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 4 == 0:
        print(
            "Epoch %d, loss %r, accuracy %r"
            % (epoch, loss.item(), ((output > 0.5) == (y > 0.5)).float().mean().item())
        )
finish(net)
