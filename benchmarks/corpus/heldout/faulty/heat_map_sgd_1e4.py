import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


def rooms(n):
    p = torch.rand(n, 2) * 2 - 1
    temp = torch.exp(-6 * ((p - torch.tensor([0.4, 0.4])) ** 2).sum(1)) - torch.exp(-6 * ((p + torch.tensor([0.5, 0.2])) ** 2).sum(1))
    zone = torch.bucketize(temp, torch.tensor([-0.25, 0.1, 0.4]))
    return p * 1.7, zone


class ZoneModel(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.lin_in = nn.Linear(2, h)
        self.lin_mid = nn.Linear(h, h)
        self.lin_out = nn.Linear(h, 4)

    def forward(self, p):
        return self.lin_out(F.relu(self.lin_mid(F.relu(self.lin_in(p)))))

    def configure(self):
        return torch.optim.SGD(self.parameters(), lr=1e-4, momentum=0.9, nesterov=True)


def run():
    p, z = rooms(2400)
    pv, zv = rooms(600)
    model = ZoneModel()
    optimizer = model.configure()
    for epoch in range(14):
        model.train()
        s = 0.0
        for b in torch.randperm(len(p)).split(60):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(p[b]), z[b])
            loss.backward()
            optimizer.step()
            s += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(pv).argmax(1) == zv).float().mean().item()
        print(f"{epoch:2d} loss {s / 40:.4f} val_acc {acc:.3f}")


run()
