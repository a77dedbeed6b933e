import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

# rain forecast: the known label is a probability estimated from an ensemble, trained with the Brier score
n = 2400
temp, hum, pres = torch.randn(n), torch.rand(n), torch.randn(n)
true_p = torch.sigmoid(6 * (hum - 0.5) - 1.2 * pres + 1.5 * hum * temp)
ensemble = torch.binomial(torch.full((n,), 20.0), true_p) / 20.0
features = torch.stack([temp, hum * 2 - 1, pres], 1)

fit = TensorDataset(features[:2000], ensemble[:2000])
model = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1), nn.Sigmoid())
brier = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(12):
    model.train()
    total = 0.0
    for x, p in DataLoader(fit, batch_size=50, shuffle=True):
        optimizer.zero_grad()
        loss = brier(model(x).squeeze(1), p)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(p)
    model.eval()
    with torch.no_grad():
        gap = (model(features[2000:]).squeeze(1) - true_p[2000:]).abs().mean()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} brier {total / 2000:.4f} mean gap to true probability {gap:.4f}")
