import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def handwriting(n, T=14):
    """Pen strokes: classify circle / zigzag / line from (dx, dy) sequences."""
    y = torch.randint(0, 3, (n,))
    t = torch.arange(T).float()
    a = torch.rand(n, 1) * 6.28
    circ = torch.stack([torch.cos(0.45 * t + a), torch.sin(0.45 * t + a)], -1)
    zig = torch.stack([torch.cos(a) + 0 * t, torch.sign(torch.sin(1.6 * t + a))], -1)
    line = torch.stack([torch.cos(a) + 0 * t, torch.sin(a) + 0 * t], -1)
    x = torch.stack([circ, zig, line], 1)[torch.arange(n), y]
    return x + 0.4 * torch.randn(n, T, 2), y


class StrokeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 24, batch_first=True)
        self.fc = nn.Linear(24, 3)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1])


train_dl = DataLoader(TensorDataset(*handwriting(1500)), batch_size=30, shuffle=True)
xt, yt = handwriting(400)
net = StrokeNet()
opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
for epoch in range(8):
    net.train()
    opt.zero_grad()
    s = 0.0
    for xb, yb in train_dl:
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / len(train_dl):.4f} test acc {acc:.3f}")
