import copy
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class ModelEMA:
    def __init__(self, model, decay=0.98):
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for e, b in zip(self.module.buffers(), model.buffers()):
            e.copy_(b)


def make(n):
    theta = torch.rand(n) * 6.2832
    k = torch.randint(0, 2, (n,))
    r = 1 + 0.4 * torch.sin(5 * theta) + torch.where(k == 1, 0.45, 0.0) + 0.08 * torch.randn(n)
    return torch.stack([r * theta.cos(), r * theta.sin()], 1), k


train = TensorDataset(*make(2000))
xv, yv = make(600)
model = nn.Sequential(
    nn.Linear(2, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 2),
)
ema = ModelEMA(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
loader = DataLoader(train, batch_size=50, shuffle=True)
for epoch in range(10):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        ema.update(model)
    model.eval()
    with torch.no_grad():
        raw = (model(xv).argmax(1) == yv).float().mean()
        avg = (ema.module(xv).argmax(1) == yv).float().mean()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f} acc {raw:.3f} acc of averaged weights {avg:.3f}")
