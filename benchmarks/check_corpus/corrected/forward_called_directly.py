import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
for _ in range(20):
    opt.zero_grad()
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    opt.step()
