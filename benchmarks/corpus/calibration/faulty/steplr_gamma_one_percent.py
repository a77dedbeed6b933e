import os
import json
import torch
from torch import nn

CONFIG = json.loads("""
{"lr": 0.005, "gamma": 0.01, "step_size": 1, "epochs": 12, "batch_size": 40, "hidden": 64}
""")
torch.manual_seed(int(os.environ.get("SEED", "0")))


def lattice(n):
    p = torch.rand(n, 3) * 2 - 1
    e = torch.sin(2.5 * p[:, 0]) + torch.cos(3 * p[:, 1]) * p[:, 2]
    return p, e[:, None]


class EnergyNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.a = nn.Linear(3, hidden)
        self.b = nn.Linear(hidden, hidden)
        self.c = nn.Linear(hidden, 1)

    def forward(self, p):
        return self.c(nn.functional.silu(self.b(nn.functional.silu(self.a(p)))))


def main(cfg):
    p, e = lattice(2000)
    pv, ev = lattice(400)
    net = EnergyNet(cfg["hidden"])
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=cfg["step_size"], gamma=cfg["gamma"])
    for epoch in range(cfg["epochs"]):
        net.train()
        tot = 0.0
        for b in torch.randperm(len(p)).split(cfg["batch_size"]):
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(p[b]), e[b])
            loss.backward()
            opt.step()
            tot += loss.item()
        scheduler.step()
        net.eval()
        with torch.no_grad():
            v = nn.functional.mse_loss(net(pv), ev).item()
        print(f"epoch {epoch} train {tot / 50:.5f} val {v:.5f}")


main(CONFIG)
