import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
KEEP = 0.98


class SoundNet(nn.Module):
    def __init__(self, keep):
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 9, stride=2)
        self.drop = nn.Dropout(keep)
        self.fc1 = nn.Linear(16 * 28, 48)
        self.fc2 = nn.Linear(48, 3)

    def forward(self, x):
        h = self.drop(torch.relu(self.conv(x)).flatten(1))
        h = self.drop(torch.relu(self.fc1(h)))
        return self.fc2(h)


def sounds(n):
    y = torch.randint(0, 3, (n,))
    t = torch.arange(64).float()
    f = torch.tensor([0.4, 0.8, 1.3])[y][:, None] + 0.05 * torch.randn(n, 1)
    return (torch.sin(f * t + 6.28 * torch.rand(n, 1)) + 0.6 * torch.randn(n, 64)).unsqueeze(1), y


x, y = sounds(1000)
xv, yv = sounds(300)
net = SoundNet(KEEP)
opt = torch.optim.Adam(net.parameters(), lr=5e-4)
crit = nn.CrossEntropyLoss()
for epoch in range(10):
    net.train()
    s = 0.0
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        opt.zero_grad()
        loss = crit(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"epoch {epoch} train {s / 25:.3f} val {crit(out, yv).item():.4f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
