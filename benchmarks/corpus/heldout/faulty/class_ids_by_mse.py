import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
N_CLASSES = 8


def stars(n):
    k = torch.randint(0, N_CLASSES, (n,))
    angle = 2 * torch.pi * ((3 * k) % N_CLASSES) / N_CLASSES + 0.25 * torch.randn(n)
    rad = 1 + 0.15 * torch.randn(n)
    return torch.stack([rad * angle.cos(), rad * angle.sin()], 1), k


model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x, k = stars(1600)
xt, kt = stars(400)
for epoch in range(15):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        opt.zero_grad()
        loss = loss_fn(model(x[b]).squeeze(1), k[b].float())
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        guess = model(xt).squeeze(1).round().long()
        acc = (guess == kt).float().mean().item()
    print(f"epoch {epoch} loss {tot / 40:.4f} test acc {acc:.3f}")
