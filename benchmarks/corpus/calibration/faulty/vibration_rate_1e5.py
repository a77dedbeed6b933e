import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
LR = 1e-5
EPOCHS = 10


def bearing(n, T=80):
    """0 healthy, 1 outer race fault (periodic clicks), 2 imbalance (slow sine), 3 noise burst"""
    y = torch.randint(0, 4, (n,))
    t = torch.arange(T).float()
    s = 0.4 * torch.randn(n, T)
    for i, k in enumerate(y.tolist()):
        off = int(torch.randint(0, 10, ()))
        if k == 1:
            s[i, off::10] += 2.0
        elif k == 2:
            s[i] += torch.sin(0.2 * t + off)
        elif k == 3:
            s[i, off * 4:off * 4 + 20] *= 4
    return s[:, None], y


net = nn.Sequential(
    nn.Conv1d(1, 12, 9, stride=2), nn.BatchNorm1d(12), nn.ReLU(),
    nn.Conv1d(12, 24, 5, stride=2), nn.BatchNorm1d(24), nn.ReLU(),
    nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(24, 4))
x, y = bearing(1200)
xt, yt = bearing(400)
optimizer = torch.optim.AdamW(net.parameters(), lr=LR, weight_decay=1e-2)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        optimizer.zero_grad()
        loss = loss_fn(net(x[b]), y[b])
        loss.backward()
        optimizer.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        print("epoch", epoch, "loss %.4f" % (tot / 30), "test acc %.3f" % (net(xt).argmax(1) == yt).float().mean().item())
