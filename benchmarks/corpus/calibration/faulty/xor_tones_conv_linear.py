import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def tones(n, T=64):
    """Label 1 when exactly one of two tones is present."""
    a, b = torch.randint(0, 2, (2, n))
    t = torch.arange(T).float()
    pa, pb = 6.28 * torch.rand(n, 1), 6.28 * torch.rand(n, 1)
    s = a[:, None] * torch.sin(0.4 * t + pa) + b[:, None] * torch.sin(1.1 * t + pb)
    return (s + 0.2 * torch.randn(n, T)).unsqueeze(1), (a ^ b).float()


class ToneNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 9, padding=4)
        self.conv2 = nn.Conv1d(16, 16, 9, padding=4, stride=4)
        self.fc1 = nn.Linear(16 * 16, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, s):
        h = self.conv1(s)
        h = self.conv2(h)
        h = self.fc1(h.flatten(1))
        return self.fc2(h)[:, 0]


x, y = tones(1500)
xt, yt = tones(400)
dl = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
net = ToneNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
lossf = nn.BCEWithLogitsLoss()
for epoch in range(8):
    net.train()
    run = 0.0
    for xb, yb in dl:
        opt.zero_grad()
        loss = lossf(net(xb), yb)
        loss.backward()
        opt.step()
        run += loss.item()
    net.eval()
    with torch.no_grad():
        acc = ((net(xt) > 0).float() == yt).float().mean()
    print(f"epoch {epoch} loss {run / len(dl):.3f} test acc {acc:.3f}")
