import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, length=40, code=6):
        super().__init__()
        self.enc1 = nn.Linear(length, 64)
        self.enc2 = nn.Linear(64, code)
        self.dec1 = nn.Linear(code, 64)
        self.dec2 = nn.Linear(64, length)

    def encode(self, x):
        return self.enc2(F.elu(self.enc1(x)))

    def forward(self, x):
        code = self.encode(x)
        self.last_code = code.data
        hidden = F.elu(self.dec1(self.last_code))
        return self.dec2(hidden)


def waves(n, length=40):
    t = torch.linspace(0, 1, length)
    freq = 1 + 2 * torch.rand(n, 1)
    phase = 2 * math.pi * torch.rand(n, 1)
    amp = 0.5 + torch.rand(n, 1)
    clean = amp * torch.sin(2 * math.pi * freq * t + phase)
    return clean + 0.2 * torch.randn(n, length), clean


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    loader = DataLoader(TensorDataset(*waves(1600)), batch_size=32, shuffle=True)
    noisy_val, clean_val = waves(300)
    net = AutoEncoder()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(12):
        net.train()
        tot = 0.0
        for noisy, clean in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(net(noisy), clean)
            loss.backward()
            optimizer.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            val = F.mse_loss(net(noisy_val), clean_val).item()
        print(f"epoch {epoch:02d} train {tot / len(loader):.4f} val mse {val:.4f}")


if __name__ == "__main__":
    main()
