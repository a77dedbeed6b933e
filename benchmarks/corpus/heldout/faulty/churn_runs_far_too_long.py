import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
MAX_EPOCHS = 100

beta = torch.randn(25)


def customers(n):
    x = torch.randn(n, 25)
    return x, (x @ beta + 0.5 * (x[:, 0] * x[:, 1]) + 2.5 * torch.randn(n) > 0).float()


x, y = customers(500)
xv, yv = customers(500)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(25, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(MAX_EPOCHS):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            tr = loss_fn(model(x).squeeze(1), y).item()
            va = loss_fn(model(xv).squeeze(1), yv).item()
        print(f"epoch {epoch + 1:3d} train {tr:.4f} val {va:.4f}")
