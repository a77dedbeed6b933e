import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Encoder(nn.Module):
    def __init__(self, code):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, code))

    def forward(self, x):
        return self.net(x.flatten(1))


class Decoder(nn.Module):
    def __init__(self, code):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, z):
        return self.net(z).view(-1, 8, 8)


def sprites(n):
    g = torch.arange(8).float()
    c = 1.5 + 4 * torch.rand(n, 2)
    r = 0.8 + 0.8 * torch.rand(n, 1, 1)
    d = (g[None, :, None] - c[:, :1, None]) ** 2 + (g[None, None] - c[:, 1:, None]) ** 2
    return torch.exp(-d / r)


encoder, decoder = Encoder(6), Decoder(6)
optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
x, xv = sprites(1600), sprites(300)
for epoch in range(12):
    tot = 0.0
    for b in torch.randperm(len(x)).split(40):
        recon = decoder(encoder(x[b]))
        loss = nn.functional.mse_loss(recon, x[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item()
    with torch.no_grad():
        v = nn.functional.mse_loss(decoder(encoder(xv)), xv).item()
    print(f"epoch {epoch} train {tot / 40:.5f} val {v:.5f}")
