"""ReduceLROnPlateau driven by the validation loss, with early stopping."""

import torch
from common import blobs, finish, seed_everything
from torch import nn

seed_everything(36)
x, y = blobs(96)
x, y, x_val, y_val = x[:64], y[:64], x[64:], y[64:]
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
best, bad = float("inf"), 0
for epoch in range(30):
    model.train()
    for i in range(0, 64, 32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 32]), y[i : i + 32])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = nn.functional.cross_entropy(model(x_val), y_val)
    scheduler.step(val_loss)
    print(epoch, repr(loss.item()), repr(val_loss.item()), optimizer.param_groups[0]["lr"])
    bad = 0 if val_loss < best else bad + 1
    best = min(best, val_loss.item())
    if bad > 6:
        print("early stop")
        break
finish(model, optimizer)
