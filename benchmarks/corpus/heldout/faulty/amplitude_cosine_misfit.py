import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class ForceNet(nn.Module):
    """Predicts a 3-d force from position and charge."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 48), nn.Linear(48, 48)])
        self.out = nn.Linear(48, 3)

    def forward(self, x):
        for l in self.layers:
            x = torch.nn.functional.gelu(l(x))
        return self.out(x)


def forces(n):
    pos = torch.randn(n, 3)
    q = torch.rand(n, 1) * 2
    return torch.cat([pos, q], 1), -q * pos / (0.5 + pos.norm(dim=1, keepdim=True) ** 2)


def main():
    x, f = forces(1600)
    xv, fv = forces(400)
    net = ForceNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    criterion = nn.CosineEmbeddingLoss()
    for epoch in range(12):
        net.train()
        tot = 0.0
        for b in torch.randperm(len(x)).split(40):
            opt.zero_grad()
            loss = criterion(net(x[b]), f[b], torch.ones(len(b)))
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            rmse = (net(xv) - fv).pow(2).mean().sqrt().item()
        print(f"epoch {epoch} loss {tot / 40:.4f} val rmse {rmse:.4f}")


main()
