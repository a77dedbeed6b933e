import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
NUM_EPOCHS = 3


def boards(n):
    x = torch.randint(0, 2, (n, 12)).float() * 2 - 1
    return x, ((x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] * x[:, 3] > 0).long())


net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
crit = nn.CrossEntropyLoss()
train, (xt, yt) = TensorDataset(*boards(2000)), boards(500)
for epoch in range(NUM_EPOCHS):
    net.train()
    s = 0.0
    for xb, yb in DataLoader(train, batch_size=50, shuffle=True):
        opt.zero_grad()
        loss = crit(net(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch + 1}/{NUM_EPOCHS} loss {s / 40:.4f} test acc {acc:.3f}")
