import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

ACCUM_STEPS = 2
MICRO_BATCH = 8
EPOCHS = 7

x = torch.randn(1600, 6)
y = torch.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - 0.7 * x[:, 3] + 0.05 * torch.randn(1600)
train_loader = DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=MICRO_BATCH, shuffle=True)

model = nn.Sequential(nn.Linear(6, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(EPOCHS):
    model.train()
    epoch_loss = 0.0
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(train_loader):
        loss = loss_fn(model(inputs).squeeze(1), targets) / ACCUM_STEPS
        loss.backward()
        epoch_loss += loss.item()
        if (i + 1) % ACCUM_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        val = loss_fn(model(x[1280:]).squeeze(1), y[1280:])
    print(f"epoch {epoch}: train {epoch_loss * ACCUM_STEPS / len(train_loader):.4f} val {val:.4f} (var {y.var():.3f})")
