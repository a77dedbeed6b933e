import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--lr", type=float, default=0.05)
args = parser.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))


def textures(n, kernels):
    y = torch.randint(0, len(kernels), (n,))
    noise = torch.randn(n, 1, 14, 14)
    x = torch.cat([F.conv2d(noise[i : i + 1], kernels[y[i]][None, None]) for i in range(n)])
    return x / x.std(), y


class TextureNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.c1 = nn.Conv2d(1, 12, 3)
        self.c2 = nn.Conv2d(12, 24, 3)
        self.out = nn.Linear(24, n_out)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = x.mean(dim=(2, 3))
        x = F.log_softmax(self.out(x), dim=1)
        return F.softmax(x, dim=1)


kernels = torch.randn(6, 3, 3)
xtr, ytr = textures(600, kernels)
xte, yte = textures(200, kernels)
net = TextureNet(6)
opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
for epoch in range(args.epochs):
    net.train()
    for sel in torch.randperm(len(xtr)).split(20):
        opt.zero_grad()
        loss = F.cross_entropy(net(xtr[sel]), ytr[sel])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    print("epoch %d  last loss %.3f  test acc %.3f" % (epoch + 1, loss.item(), acc))
