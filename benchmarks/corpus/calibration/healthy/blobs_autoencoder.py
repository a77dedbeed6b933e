import os

import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", 0)))

# images of one soft gaussian spot, 12x12, pixel values already in [0, 1]
grid = torch.linspace(-1, 1, 12)
gy, gx = torch.meshgrid(grid, grid, indexing="ij")


def spots(n):
    c = torch.rand(n, 2, 1, 1) * 1.4 - 0.7
    s = torch.rand(n, 1, 1) * 0.2 + 0.2
    return torch.exp(-((gx - c[:, 0]) ** 2 + (gy - c[:, 1]) ** 2) / (2 * s**2)).flatten(1)


train_imgs = spots(1500)
val_imgs = spots(300)


class AutoEncoder(nn.Module):
    def __init__(self, n_in=144, code=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, code))
        self.decoder = nn.Sequential(nn.Linear(code, 64), nn.ReLU(), nn.Linear(64, n_in), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


ae = AutoEncoder()
mse = nn.MSELoss()
opt = torch.optim.Adam(ae.parameters(), lr=3e-3)
base = mse(train_imgs.mean(0).expand_as(val_imgs), val_imgs).item()
print("mean-image mse", round(base, 4))

for epoch in range(16):
    ae.train()
    for chunk in torch.randperm(len(train_imgs)).split(50):
        x = train_imgs[chunk]
        loss = mse(ae(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    ae.eval()
    with torch.no_grad():
        v = mse(ae(val_imgs), val_imgs).item()
    if epoch % 5 == 0 or epoch == 15:
        print(f"epoch {epoch:02d} train {loss.item():.5f} val {v:.5f}")
