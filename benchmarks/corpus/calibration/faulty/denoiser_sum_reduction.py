import os
import math
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Denoiser(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, ch, 7, padding=3), nn.ReLU(), nn.Conv1d(ch, ch, 7, padding=3), nn.ReLU(), nn.Conv1d(ch, 1, 7, padding=3))

    def forward(self, x):
        return self.net(x)


def signals(n, T=64):
    t = torch.linspace(0, 2 * math.pi, T)
    f = 1 + 3 * torch.rand(n, 1)
    clean = torch.sin(f * t + 6.28 * torch.rand(n, 1)).unsqueeze(1)
    return clean + 0.5 * torch.randn(n, 1, T), clean


class SquaredError(nn.Module):
    def forward(self, out, ref):
        return ((out - ref) ** 2).sum()


noisy, clean = signals(800)
noisy_v, clean_v = signals(200)
net = Denoiser()
criterion = SquaredError()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(8):
    net.train()
    for b in torch.randperm(len(noisy)).split(40):
        opt.zero_grad()
        loss = criterion(net(noisy[b]), clean[b])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = (net(noisy_v) - clean_v).pow(2).mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val mse {v:.4f}")
