import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class LoadWindows(Dataset):
    """Twenty hours of electric load, and the one that follows."""

    def __init__(self, series, width=20):
        self.windows = series.unfold(0, width + 1, 1)

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, item):
        window = self.windows[item]
        return window[:-1].unsqueeze(-1), window[-1:]


class LoadModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 24, batch_first=True)
        self.linear = nn.Linear(24, 1)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.linear(states[:, -1])


def series(n):
    t = torch.arange(n).float()
    load = torch.sin(6.283 * t / 24) + 0.5 * torch.sin(6.283 * t / 7) + 0.1 * torch.randn(n)
    return load


torch.manual_seed(int(os.environ.get("SEED", "0")))
load = series(1000)
train_loader = DataLoader(LoadWindows(load[:800]), batch_size=780, shuffle=True)
test_set = LoadWindows(load[800:])
model = LoadModel()
loss_function = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
num_epochs = 8

for epoch in range(num_epochs):
    losses = []
    for window, following in train_loader:
        optimizer.zero_grad()
        loss = loss_function(model(window), following)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")

with torch.no_grad():
    x = torch.stack([item[0] for item in test_set])
    y = torch.stack([item[1] for item in test_set])
    print(f"test mse {loss_function(model(x), y).item():.4f}")
