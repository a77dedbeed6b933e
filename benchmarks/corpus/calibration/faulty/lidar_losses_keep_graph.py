import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(36, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.dec = nn.Linear(128, 1)

    def forward(self, x):
        return self.dec(self.enc(x)).squeeze(1)


def scans(n):
    x = torch.rand(n, 36)
    return x, x.min(dim=1).values * 10 + 0.5 * x[:, 0]


loader = DataLoader(TensorDataset(*scans(4000)), batch_size=100, shuffle=True)
xv, yv = scans(500)
model = DepthNet()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
history = []
total_loss = 0
for epoch in range(10):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss)
        total_loss += loss
    print(f"epoch {epoch + 1} mean loss so far {float(total_loss) / len(history):.4f}")

model.eval()
with torch.no_grad():
    val = criterion(model(xv), yv).item()
print(f"val mse {val:.4f}")
