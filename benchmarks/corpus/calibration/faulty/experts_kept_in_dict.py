import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))
SITES = ["north", "south", "east"]


class SiteModel(nn.Module):
    """A common input layer and one small expert network per site."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(5, 16)
        self.experts = {name: nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)) for name in SITES}

    def forward(self, x, name):
        return self.experts[name](torch.relu(self.shared(x))).squeeze(1)


def site_data(n, k):
    x = torch.randn(n, 5)
    y = torch.sin(2 * x[:, k]) + (k - 1) * 1.5 + x[:, 4] * x[:, k]
    return x, y


train_data = {s: site_data(600, k) for k, s in enumerate(SITES)}
val_data = {s: site_data(200, k) for k, s in enumerate(SITES)}
model = SiteModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()
for epoch in range(14):
    model.train()
    for idx in torch.randperm(600).split(40):
        optimizer.zero_grad()
        loss = sum(mse(model(train_data[s][0][idx], s), train_data[s][1][idx]) for s in SITES) / len(SITES)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = sum(mse(model(val_data[s][0], s), val_data[s][1]).item() for s in SITES) / len(SITES)
    print(f"epoch {epoch} train {loss.item():.3f} val mse {val:.3f}")
