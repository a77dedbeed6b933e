import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(20, 50), nn.ReLU())
        self.classifier = nn.Linear(50, 4)

    def forward(self, x):
        f = self.features(x).detach()
        return self.classifier(f)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(320, 20), torch.randint(0, 4, (320,))
for epoch in range(10):
    for b in torch.randperm(320).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
