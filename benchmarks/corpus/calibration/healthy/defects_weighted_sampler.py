import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(int(os.environ.get("SEED", "0")))
COUNTS = {"ok": 1500, "scratch": 150, "dent": 75}


def signals(cls, n):
    t = torch.linspace(0, 1, 40)
    base = torch.sin(2 * torch.pi * (3 * t + torch.rand(n, 1)))
    if cls == "scratch":
        pos = torch.randint(5, 33, (n, 1))
        base = base + 1.6 * ((torch.arange(40) - pos).abs() <= 1).float()
    elif cls == "dent":
        pos = torch.randint(8, 30, (n, 1))
        base = base - 0.9 * torch.exp(-((torch.arange(40) - pos) ** 2) / 18.0)
    return (base + 0.2 * torch.randn(n, 40)).unsqueeze(1)


def build(counts):
    xs = [signals(c, k) for c, k in counts.items()]
    ys = [torch.full((k,), i) for i, k in enumerate(counts.values())]
    return torch.cat(xs), torch.cat(ys)


x_train, y_train = build(COUNTS)
x_test, y_test = build({"ok": 120, "scratch": 120, "dent": 120})
per_class = torch.bincount(y_train).float()
sampler = WeightedRandomSampler(1.0 / per_class[y_train], num_samples=len(y_train), replacement=True)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=48, sampler=sampler)


class Net1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveMaxPool1d(1),
        )
        self.classifier = nn.Linear(32, 3)

    def forward(self, x):
        return self.classifier(self.features(x).squeeze(-1))


net = Net1d()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_function = nn.CrossEntropyLoss()
for ep in range(7):
    net.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_function(net(xb), yb)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hit = net(x_test).argmax(1) == y_test
    print(ep, f"loss {loss.item():.4f}", "recall per class", [round(hit[y_test == c].float().mean().item(), 3) for c in range(3)])
