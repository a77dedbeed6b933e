import argparse
import os

import torch
import torch.nn.functional as F
from torch import nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=500)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--log-every", type=int, default=100)
    return p.parse_args()


def sample_rings(n):
    label = torch.randint(0, 4, (n,))
    radius = 0.5 + 0.6 * label + 0.12 * torch.randn(n)
    angle = torch.rand(n) * 6.2832
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 50)
        self.fc2 = nn.Linear(50, 50)
        self.fc3 = nn.Linear(50, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def main():
    args = get_args()
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = sample_rings(2000)
    xt, yt = sample_rings(500)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.8)
    for step in range(args.steps):
        pick = torch.randint(0, len(x), (args.batch,))
        out = net(x[pick])
        loss = F.cross_entropy(out, y[pick])
        if step % args.log_every == 0:
            opt.zero_grad()
            print("step", step, "loss", round(loss.item(), 4))
        loss.backward()
        opt.step()

    net.eval()
    with torch.no_grad():
        pred = net(xt).argmax(dim=1)
    print("test acc %.3f" % (pred == yt).float().mean().item())


if __name__ == "__main__":
    main()
