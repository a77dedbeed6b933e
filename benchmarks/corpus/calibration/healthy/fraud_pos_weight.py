import os
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(int(os.environ.get("SEED", "0")))

# 5 % positives
n = 4000
y = (torch.rand(n) < 0.05).float()
x = torch.randn(n, 16)
direction = torch.randn(16)
direction /= direction.norm()
x += y[:, None] * 3.0 * direction
x[:, :2] *= 1 + 0.8 * y[:, None]

train_part, test_part = random_split(TensorDataset(x, y), [3200, 800])
y_train = y[train_part.indices]
pos_weight = (1 - y_train).sum() / y_train.sum()
print(f"positives {y_train.mean():.3f}, pos_weight {pos_weight:.1f}")

train_loader = DataLoader(train_part, batch_size=128, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)

for epoch in range(12):
    model.train()
    tot = 0
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = criterion(model(xb)[:, 0], yb)
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} weighted loss {tot / len(train_loader):.4f}")

model.eval()
with torch.no_grad():
    xt, yt = x[test_part.indices], y[test_part.indices]
    pred = (model(xt)[:, 0] > 0).float()
recall = pred[yt == 1].mean()
spec = 1 - pred[yt == 0].mean()
print(f"recall {recall:.3f} specificity {spec:.3f} balanced accuracy {(recall + spec) / 2:.3f}")
