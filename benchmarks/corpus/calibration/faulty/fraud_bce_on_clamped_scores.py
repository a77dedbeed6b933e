import argparse
import os

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()

torch.manual_seed(int(os.environ.get("SEED", "0")))


class FraudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(9, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.fc2(x)
        return x.clamp(1e-6, 1 - 1e-6).squeeze(1)


def payments(n):
    x = torch.randn(n, 9)
    score = x[:, 0] * 1.5 + x[:, 1] * x[:, 2] - x[:, 3]
    return x, (score > 0.3).float()


x, y = payments(1500)
xv, yv = payments(500)
net = FraudNet()
bce = nn.BCELoss()
opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
for epoch in range(args.epochs):
    net.train()
    for idx in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = bce(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        p = net(xv)
    print(f"epoch {epoch + 1} val loss {bce(p, yv).item():.3f} val acc {((p > 0.5).float() == yv).float().mean().item():.3f}")
