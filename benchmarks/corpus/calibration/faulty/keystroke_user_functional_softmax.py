import os
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

cfg = SimpleNamespace(users=12, keys=10, hidden=32, lr=0.1, epochs=12, batch=30)


class KeystrokeGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, cfg.hidden, batch_first=True)
        self.fc = nn.Linear(cfg.hidden, cfg.users)

    def forward(self, seq):
        _, h = self.gru(seq)
        logits = self.fc(h[-1])
        return F.softmax(logits, dim=-1)


def typing(n, habit):
    user = torch.randint(0, cfg.users, (n,))
    return habit[user] + 0.6 * torch.randn(n, cfg.keys, 2), user


def run():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    habit = torch.randn(cfg.users, cfg.keys, 2)
    x, u = typing(900, habit)
    xt, ut = typing(300, habit)
    net = KeystrokeGRU()
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)
    for ep in range(cfg.epochs):
        net.train()
        for idx in torch.randperm(len(x)).split(cfg.batch):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[idx]), u[idx])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            p = net(xt)
        print(ep, "train loss %.3f" % loss.item(), "test loss %.3f" % F.cross_entropy(p, ut), "acc %.3f" % (p.argmax(1) == ut).float().mean())


run()
