# Mobile-style separable convolutions reading noisy seven-segment digits.
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
LINES = {  # (row0, row1, col0, col1) on a 12 x 8 grid
    "a": (0, 2, 1, 7), "g": (5, 7, 1, 7), "d": (10, 12, 1, 7),
    "f": (1, 6, 0, 2), "b": (1, 6, 6, 8), "e": (6, 11, 0, 2), "c": (6, 11, 6, 8),
}


def glyph(d):
    g = torch.zeros(12, 8)
    for s in SEGMENTS[d]:
        r0, r1, c0, c1 = LINES[s]
        g[r0:r1, c0:c1] = 1
    return g


GLYPHS = torch.stack([glyph(d) for d in range(10)])


def sample(n):
    y = torch.randint(0, 10, (n,))
    img = torch.zeros(n, 1, 18, 14)
    dy = torch.randint(0, 5, (n,))
    dx = torch.randint(0, 5, (n,))
    for i in range(n):
        img[i, 0, dy[i] : dy[i] + 12, dx[i] : dx[i] + 8] = GLYPHS[y[i]]
    img = img * (0.6 + 0.4 * torch.rand(n, 1, 1, 1)) + 0.2 * torch.randn_like(img)
    return (img - 0.25) / 0.4, y


def separable(cin, cout, stride):
    return nn.Sequential(
        nn.Conv2d(cin, cin, 3, stride=stride, padding=1, groups=cin, bias=False),
        nn.BatchNorm2d(cin),
        nn.ReLU6(inplace=True),
        nn.Conv2d(cin, cout, 1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU6(inplace=True),
    )


net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(inplace=True),
    separable(16, 32, 2),
    separable(32, 48, 2),
    separable(48, 64, 1),
    nn.Flatten(),
    nn.Linear(64 * 5 * 4, 10),
)
train_set, test_set = TensorDataset(*sample(1800)), TensorDataset(*sample(500))
loader = DataLoader(train_set, batch_size=64, shuffle=True)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.5)
loss_function = nn.CrossEntropyLoss()

for epoch in range(8):
    net.train()
    seen, total = 0, 0.0
    for x, y in loader:
        optimizer.zero_grad()
        l = loss_function(net(x), y)
        l.backward()
        optimizer.step()
        total += l.item() * y.size(0)
        seen += y.size(0)
    net.eval()
    with torch.no_grad():
        x, y = test_set.tensors
        acc = (net(x).argmax(dim=1) == y).float().mean().item()
    print(f"epoch {epoch + 1}/8  loss {total / seen:.4f}  test {acc:.4f}")
