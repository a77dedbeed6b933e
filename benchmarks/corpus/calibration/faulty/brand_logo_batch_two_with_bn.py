import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class LogoNet(nn.Module):
    def __init__(self, n_in=16, n_classes=6):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, 48),
            nn.BatchNorm1d(48),
            nn.ReLU(),
            nn.Linear(48, 48),
            nn.BatchNorm1d(48),
            nn.ReLU(),
            nn.Linear(48, n_classes),
        )

    def forward(self, x):
        return self.net(x)


BATCH_SIZE = 2


def logos(n, proto):
    y = torch.randint(0, 6, (n,))
    return proto[y] + 0.9 * torch.randn(n, 16), y


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    proto = torch.randn(6, 16)
    train = DataLoader(TensorDataset(*logos(600, proto)), batch_size=BATCH_SIZE, shuffle=True)
    xv, yv = logos(400, proto)
    net = LogoNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(4):
        net.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            out = net(xv)
        print(f"epoch {epoch} train {total / len(train):.3f} val loss {criterion(out, yv):.3f} val acc {(out.argmax(1) == yv).float().mean():.3f}")
