import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class ResBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)
        # each block starts as the identity
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class DeepNet(nn.Module):
    def __init__(self, d_in, dim=32, depth=10, classes=4):
        super().__init__()
        self.stem = nn.Linear(d_in, dim)
        self.blocks = nn.ModuleList(ResBlock(dim) for _ in range(depth))
        self.final = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.final(x))


def quadrant_task(n):
    x = torch.rand(n, 8) * 4 - 2
    a = x[:, 0] * x[:, 1] > 0
    b = x[:, 2] + x[:, 3] > 0
    return x, a.long() * 2 + b.long()


train = TensorDataset(*quadrant_task(3000))
xv, yv = quadrant_task(600)
loader = DataLoader(train, batch_size=100, shuffle=True)
model = DeepNet(8)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8 * len(loader))
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    acc_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        acc_loss += loss.item()
    model.eval()
    with torch.no_grad():
        va = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch}: loss {acc_loss / len(loader):.4f} val acc {va:.3f}")
