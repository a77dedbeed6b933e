import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
BANDS = 80


def spectra(n):
    grid = torch.linspace(0, 1, BANDS)
    out = torch.zeros(n, BANDS)
    for _ in range(3):
        mu, amp = torch.rand(n, 1), torch.rand(n, 1)
        out += amp * torch.exp(-((grid - mu) ** 2) / 0.01)
    return out + 0.02 * torch.randn(n, BANDS)


class AutoEncoder(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.enc1 = nn.Linear(BANDS, 64)
        self.enc2 = nn.Linear(64, code)
        self.dec1 = nn.Linear(16, 64)
        self.dec2 = nn.Linear(64, BANDS)

    def forward(self, x):
        z = self.enc2(torch.relu(self.enc1(x)))
        return self.dec2(torch.relu(self.dec1(z)))


loader = DataLoader(TensorDataset(spectra(1500)), batch_size=64, shuffle=True)
held_out = spectra(300)
ae = AutoEncoder()
opt = torch.optim.Adam(ae.parameters(), lr=2e-3)
mse = nn.MSELoss()
for epoch in range(15):
    for (xb,) in loader:
        opt.zero_grad()
        loss = mse(ae(xb), xb)
        loss.backward()
        opt.step()
    ae.eval()
    with torch.no_grad():
        print(epoch, "reconstruction error %.5f" % mse(ae(held_out), held_out).item())
    ae.train()
