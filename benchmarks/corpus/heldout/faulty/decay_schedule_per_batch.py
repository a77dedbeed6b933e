import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
EPOCHS = 12


def arrhythmia(n, T=50):
    y = torch.randint(0, 3, (n,))
    period = torch.tensor([8.0, 11.0, 8.0])[y]
    jitter = torch.tensor([0.0, 0.0, 2.0])[y]
    x = 0.2 * torch.randn(n, T)
    for i in range(n):
        p = float(torch.rand(()) * 6)
        while p < T:
            x[i, int(p)] += 1.5
            p += float(period[i] + jitter[i] * (2 * torch.rand(()) - 1))
    return x[:, None], y


net = nn.Sequential(
    nn.Conv1d(1, 16, 15, padding=7), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(16, 24, 9, padding=4), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(),
    nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 3))
x, y = arrhythmia(1200)
xt, yt = arrhythmia(300)
loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.85)
for epoch in range(EPOCHS):
    net.train()
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        sched.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / len(loader):.3f} acc {acc:.3f} lr {sched.get_last_lr()[0]:.2e}")
