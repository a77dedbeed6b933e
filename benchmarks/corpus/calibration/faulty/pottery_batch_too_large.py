import argparse
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=2048)
ap.add_argument("--epochs", type=int, default=10)
args = ap.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))


def shards(n, proto):
    y = torch.randint(0, 10, (n,))
    sign = torch.randint(0, 2, (n, 1)) * 2 - 1
    return proto[y] * sign + 0.5 * torch.randn(n, 20), y


proto = torch.randn(10, 20)
loader = DataLoader(TensorDataset(*shards(4000, proto)), batch_size=args.batch_size, shuffle=True)
xv, yv = shards(600, proto)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
ce = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = ce(net(x), y)
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} val acc {acc:.3f}")
