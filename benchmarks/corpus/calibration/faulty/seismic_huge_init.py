import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))


class PickNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(25, 100)
        self.fc2 = nn.Linear(100, 100)
        self.fc3 = nn.Linear(100, 4)
        self.reset()

    def reset(self):
        for p in self.parameters():
            nn.init.normal_(p, mean=0.0, std=4.0)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def traces(n):
    kind = np.random.randint(0, 4, n)
    t = np.linspace(-1, 1, 25)
    centre = np.random.uniform(-0.3, 0.3, (n, 1))
    width = np.array([0.1, 0.2, 0.35, 0.6])[kind][:, None]
    sig = np.exp(-(((t - centre) / width) ** 2)) * np.random.choice([-1, 1], (n, 1))
    return torch.tensor(sig + 0.15 * np.random.randn(n, 25), dtype=torch.float32), torch.tensor(kind)


x, y = traces(1200)
xv, yv = traces(400)
net = PickNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(15):
    net.train()
    for idx in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        out = net(xv)
        print("epoch %2d  train %.3f  val loss %.3f  val acc %.3f" % (epoch, loss.item(), F.cross_entropy(out, yv), (out.argmax(1) == yv).float().mean()))
