import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(int(os.environ.get("SEED", "0")))

n = 2000
income = torch.exp(torch.randn(n) * 0.5 + 10.5)
debt_ratio = torch.rand(n) * 0.6
age = 20 + 50 * torch.rand(n)
late_payments = torch.poisson(torch.full((n,), 1.0))
history = torch.rand(n) * 4000
logit = -1.0 * (income.log() - 10.5) * 2 + 9 * (debt_ratio - 0.3) - 0.04 * (age - 45) + 1.2 * (late_payments - 1) - (history - 2000) / 1500
default = (logit + 0.3 * torch.randn(n) > 0).float()

features = torch.stack([income, debt_ratio, age, late_payments, history], dim=1)
dataset = TensorDataset(features, default)
train_ds, val_ds = random_split(dataset, [1600, 400])
train_loader = DataLoader(train_ds, batch_size=40, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=400)

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(12):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        xv, yv = next(iter(val_loader))
        acc = ((model(xv) > 0).float() == yv).float().mean().item()
    print(f"epoch {epoch + 1} train loss {running / len(train_loader):.3f} val acc {acc:.3f}")
