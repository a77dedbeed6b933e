import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

# features: rain, sun, soil ph, nitrogen, slope, irrigation
n = 1500
feats = torch.rand(n, 6) * 2 - 1
yield_ = torch.exp(-4 * (feats[:, 0] - 0.3) ** 2) * 2 + torch.sin(3 * feats[:, 1]) * feats[:, 3] - 0.5 * feats[:, 4].abs()
yield_ = (yield_ - yield_.mean()) / yield_.std()
train_x, train_y = feats[:1200], yield_[:1200]
test_x, test_y = feats[1200:], yield_[1200:]

regressor = nn.Sequential(
    nn.Linear(6, 64),
    nn.GELU(),
    nn.Linear(64, 32),
    nn.GELU(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.Adam(regressor.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)
loss_function = nn.SmoothL1Loss()

EPOCHS, BATCH = 20, 60
for epoch in range(EPOCHS):
    regressor.train()
    indices = torch.randperm(len(train_x))
    for start in range(0, len(train_x), BATCH):
        batch = indices[start : start + BATCH]
        prediction = regressor(train_x[batch]).squeeze(-1)
        loss = loss_function(prediction, train_y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    if (epoch + 1) % 5 == 0:
        regressor.eval()
        with torch.no_grad():
            test_loss = nn.functional.mse_loss(regressor(test_x).squeeze(-1), test_y)
        print(f"Epoch {epoch + 1}: test mse {test_loss.item():.4f}")
