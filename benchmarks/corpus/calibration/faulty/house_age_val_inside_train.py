import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

feats = torch.randn(500, 20)
w = torch.randn(20)
age_group = (feats @ w + 4.0 * torch.randn(500) > 0).long()
full = TensorDataset(feats, age_group)

perm = torch.randperm(len(full)).tolist()
train_set = Subset(full, perm)
val_set = Subset(full, perm[400:])

train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)

model = nn.Sequential(nn.Linear(20, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def accuracy(loader):
    model.eval()
    c = n = 0
    with torch.no_grad():
        for xb, yb in loader:
            c += (model(xb).argmax(1) == yb).sum().item()
            n += len(yb)
    model.train()
    return c / n


for epoch in range(12):
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: train acc {accuracy(train_loader):.3f}, val acc {accuracy(val_loader):.3f}")
print(f"final validation accuracy {accuracy(val_loader):.3f}")
