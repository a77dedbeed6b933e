import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

WINDOW = 24

# one long noisy signal; windows of the past predict the next value
t = torch.arange(0, 1500, dtype=torch.float32)
signal = 0.7 * torch.sin(2 * math.pi * t / 20) + 0.3 * torch.sin(2 * math.pi * t / 7) + 0.03 * torch.randn(1500)
windows = signal.unfold(0, WINDOW + 1, 1)
split = 1150
train_w, test_w = windows[:split], windows[split + WINDOW:]

train_loader = DataLoader(
    TensorDataset(train_w[:, :-1].unsqueeze(-1), train_w[:, -1]), batch_size=32, shuffle=True, drop_last=True
)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.out(states[:, -1]).squeeze(-1)


model = Forecaster()
loss_fn = nn.MSELoss()
optim = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(10):
    model.train()
    losses = []
    for past, nxt in train_loader:
        pred = model(past)
        loss = loss_fn(pred, nxt)
        optim.zero_grad()
        loss.backward()
        optim.step()
        losses.append(loss.item())
    print("epoch", epoch, "train mse", round(sum(losses) / len(losses), 5))

model.eval()
with torch.no_grad():
    test_mse = loss_fn(model(test_w[:, :-1].unsqueeze(-1)), test_w[:, -1]).item()
    naive = loss_fn(test_w[:, -2], test_w[:, -1]).item()
print(f"test mse {test_mse:.5f}  (last-value baseline {naive:.5f})")
