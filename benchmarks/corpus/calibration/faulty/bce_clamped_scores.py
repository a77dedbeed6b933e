import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def circuits(n):
    v = torch.rand(n, 6) * 2 - 1
    fault = (v[:, 0] * v[:, 1] > 0) ^ (v[:, 2] > 0.1)
    return v * 1.7, fault.float()


class FaultDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.score = nn.Linear(32, 1)

    def forward(self, v):
        p = self.score(self.features(v)).squeeze(-1)
        return torch.clamp(p, 1e-6, 1 - 1e-6)


def main():
    v, f = circuits(2000)
    vt, ft = circuits(500)
    loader = DataLoader(TensorDataset(v, f), batch_size=50, shuffle=True)
    net = FaultDetector()
    opt = torch.optim.Adam(net.parameters(), lr=8e-3)
    bce = nn.BCELoss()
    for epoch in range(15):
        net.train()
        s = 0.0
        for vb, fb in loader:
            opt.zero_grad()
            loss = bce(net(vb), fb)
            loss.backward()
            opt.step()
            s += loss.item()
        net.eval()
        with torch.no_grad():
            acc = ((net(vt) > 0.5).float() == ft).float().mean().item()
        print(f"epoch {epoch} bce {s / len(loader):.3f} acc {acc:.3f}")


main()
