import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

# 10x10 images made of a few smooth bumps: low dimensional, so a bottleneck of 8 should be enough
def bumps(n):
    g = torch.linspace(-1, 1, 10)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    c = torch.rand(n, 2, 2, 1, 1) * 1.6 - 0.8
    img = torch.exp(-((yy - c[:, :, 0]) ** 2 + (xx - c[:, :, 1]) ** 2) / 0.15)
    return img.amax(dim=1).reshape(n, 100)

train, test = bumps(2000), bumps(400)
loader = DataLoader(TensorDataset(train), batch_size=50, shuffle=True)

class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(100, 96), nn.ReLU(), nn.Linear(96, 8))
        self.decoder = nn.Sequential(nn.Linear(8, 96), nn.ReLU(), nn.Linear(96, 100), nn.Sigmoid())
    def forward(self, x):
        return self.decoder(self.encoder(x))

ae = AE()
opt = torch.optim.Adam(ae.parameters(), lr=4e-3)
mse = nn.MSELoss()
for epoch in range(15):
    ae.train()
    total = 0
    for (x,) in loader:
        opt.zero_grad()
        loss = mse(ae(x), x)
        loss.backward()
        opt.step()
        total += loss.item()
    ae.eval()
    with torch.no_grad():
        tl = mse(ae(test), test).item()
    if epoch % 3 == 2:
        print(f"epoch {epoch+1}: train {total/len(loader):.5f} test {tl:.5f}")
print("variance of the data:", test.var(dim=0).mean().item())
