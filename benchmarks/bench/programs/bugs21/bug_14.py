import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.uniform_(m.weight, -0.5, 0.0)
        nn.init.zeros_(m.bias)


def histogram(n):
    y = torch.randint(0, 4, (n,))
    p = torch.softmax(LOGITS[y] + 0.5 * torch.randn(n, 16), 1)
    return p * 16, y


LOGITS = torch.randn(4, 16)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
model.apply(init)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()
x, y = histogram(1200)
xt, yt = histogram(300)
for epoch in range(10):
    model.train()
    s = 0.0
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        optimizer.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        optimizer.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {s / 30:.4f} acc {acc:.3f}")
