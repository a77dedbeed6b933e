import os
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--accum", type=int, default=8)
parser.add_argument("--micro", type=int, default=4)
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()
torch.manual_seed(int(os.environ.get("SEED", "0")))


def customers(n):
    x = torch.randn(n, 10)
    y = torch.bucketize(x[:, 0] + x[:, 1] * x[:, 2], torch.tensor([-0.7, 0.7]))
    return x, y


model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
x, y = customers(4000)
xv, yv = customers(1000)
loader = DataLoader(TensorDataset(x, y), batch_size=args.micro, shuffle=True)
for epoch in range(args.epochs):
    model.train()
    total = 0.0
    for i, (xb, yb) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb) / args.accum
        loss.backward()
        total += loss.item() * args.accum
        if (i + 1) % args.accum == 0:
            optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(xv)
    print(f"epoch {epoch} train {total / len(loader):.4f} val {criterion(out, yv).item():.4f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
