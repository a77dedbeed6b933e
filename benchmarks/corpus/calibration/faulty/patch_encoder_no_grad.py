import os
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, stride=2, padding=1), nn.ReLU())

    def forward(self, x):
        return self.conv(x).flatten(1)


class CountModel(nn.Module):
    """Encoder followed by a small classification head."""

    def __init__(self, classes):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(4 * 9, classes)

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.head(z)


def images(n, size=12):
    """Pictures with one to four small crosses at random places; the label is their number."""
    labels = torch.randint(0, 4, (n,))
    x = 0.1 * torch.randn(n, 1, size, size)
    for i in range(n):
        cells = torch.randperm(9)[: int(labels[i]) + 1]
        for c in cells.tolist():
            r, q = 4 * (c // 3) + 1, 4 * (c % 3) + 1
            x[i, 0, r, q - 1 : q + 2] += 1
            x[i, 0, r - 1 : r + 2, q] += 1
        others = [c for c in range(9) if c not in cells.tolist()]
        for c in others[:4]:
            r, q = 4 * (c // 3), 4 * (c % 3)
            x[i, 0, r, q : q + 3] += 1
    return x, labels


torch.manual_seed(int(os.environ.get("SEED", "0")))
x, y = images(1200)
xt, yt = images(300)
net = CountModel(4)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(20):
    net.train()
    losses = []
    for idx in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = loss_fn(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 4 == 3:
        net.eval()
        with torch.no_grad():
            acc = (net(xt).argmax(-1) == yt).float().mean().item()
        print(f"epoch {epoch + 1:2d} loss {sum(losses) / len(losses):.3f} test acc {acc:.3f}")
