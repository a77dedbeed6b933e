import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


def faces(n):
    z = torch.randn(n, 4)
    pix = torch.tanh(z @ PROJ)
    return pix + 0.1 * torch.randn(n, 36), (z[:, 0] > z[:, 1]).float()


PROJ = torch.randn(4, 36)


def one_epoch(net, optimizer, criterion, x, y, batch=40):
    net.train()
    losses = []
    for idx in torch.randperm(len(x)).split(batch):
        optimizer.zero_grad()
        out = net(x[idx]).view(-1)
        loss = criterion(out, y[idx])
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


x, y = faces(1200)
xt, yt = faces(300)
net = nn.Sequential(nn.Linear(36, 32), nn.LeakyReLU(0.1), nn.Linear(32, 16), nn.LeakyReLU(0.1), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(10):
    mean_loss = one_epoch(net, optimizer, criterion, x, y)
    net.eval()
    with torch.no_grad():
        acc = ((net(xt).view(-1) > 0).float() == yt).float().mean().item()
    print(f"epoch {epoch} loss {mean_loss:.4f} test acc {acc:.3f}")
