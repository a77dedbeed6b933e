from pathlib import Path

import torch
from torch import nn

import prepare
from data import listing, load, partition


class LeafNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        chans = [3, 16, 32, 48]
        layers = []
        for a, b in zip(chans, chans[1:]):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        self.conv = nn.Sequential(*layers)
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(48 * 16, 64), nn.ReLU(), nn.Linear(64, n))

    def forward(self, x):
        return self.fc(self.conv(x))


def main():
    torch.manual_seed(0)
    if not Path("work").exists():
        print("building the working set:", prepare.build(), "images")
    items, classes = listing("work")
    train_items, test_items = partition(items)
    (xa, ya), (xb, yb) = load(train_items), load(test_items)
    print(classes, len(ya), "train", len(yb), "test")

    net = LeafNet(len(classes))
    opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
    for epoch in range(20):
        net.train()
        s = 0.0
        for b in torch.randperm(len(ya)).split(32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(xa[b]), ya[b])
            loss.backward()
            opt.step()
            s += loss.item() * len(b)
        if epoch % 3 == 2:
            print("epoch", epoch + 1, "loss", round(s / len(ya), 4))

    net.eval()
    with torch.no_grad():
        acc = (net(xb).argmax(1) == yb).float().mean().item()
    print(f"test accuracy: {acc:.3f}")


if __name__ == "__main__":
    main()
