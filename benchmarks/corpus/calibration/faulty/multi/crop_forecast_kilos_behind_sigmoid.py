import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

weather = torch.rand(1400, 10) * torch.tensor([30.0, 12, 900, 5, 1, 60, 7, 2, 14, 100])
scaled = (weather - weather.mean(0)) / weather.std(0)
tonnes = 4 + 1.5 * scaled[:, 0] * torch.sigmoid(scaled[:, 2]) - scaled[:, 3].abs() + 0.5 * scaled[:, 5] + 0.1 * torch.randn(1400)

inputs = (weather - weather.mean(0)) / weather.std(0)
mean, std = tonnes.mean(), tonnes.std()
targets = (1000 * tonnes).unsqueeze(1)  # kilograms

train_dl = DataLoader(TensorDataset(inputs[:1100], targets[:1100]), batch_size=32, shuffle=True)


class Yield(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(10, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.layers(x)


model = Yield()
mse = nn.MSELoss()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
epochs = 30

for epoch in range(epochs):
    model.train()
    for xb, yb in train_dl:
        pred = model(xb)
        loss = mse(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()

model.eval()
with torch.no_grad():
    held_out = model(inputs[1100:])
    residual = ((held_out - targets[1100:]) ** 2).mean() / targets[1100:].var()
print(f"unexplained share {residual.item():.4f}")
