import os

import numpy as np
import torch
from torch import nn

S = int(os.environ.get("SEED", "0"))
rs = np.random.RandomState(S)
torch.manual_seed(S)


def flowers(per):
    """Four species in 5 measurements, curved clusters."""
    rows, lab = [], []
    for sp in range(4):
        a = rs.uniform(0, np.pi, per)
        r = 0.6 + 0.5 * a + 0.08 * rs.randn(per)
        a = a + sp * np.pi / 2
        f = np.stack([r * np.cos(a), r * np.sin(a), rs.randn(per), 0.3 * rs.randn(per) + 0.2 * sp, rs.randn(per)], 1)
        rows.append(f)
        lab.append(np.full(per, sp))
    return np.concatenate(rows).astype("f"), np.concatenate(lab)


class Trainer:
    def __init__(self, net, lr=0.01, batch=25):
        self.net, self.batch = net, batch
        self.opt = torch.optim.RMSprop(net.parameters(), lr=lr)

    def train(self, X, y, epochs):
        n = len(X)
        for ep in range(epochs):
            self.net.train()
            run = 0.0
            for lo in range(0, n, self.batch):
                hi = lo + self.batch
                out = self.net(X[lo:hi])
                loss = nn.functional.cross_entropy(out, y[lo:hi])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                run += loss.item() * len(out)
            print(f"epoch {ep + 1}/{epochs} loss {run / n:.4f}")

    def evaluate(self, X, y):
        self.net.eval()
        with torch.no_grad():
            return (self.net(X).argmax(1) == y).float().mean().item()


Xtr, ytr = map(torch.from_numpy, flowers(250))
Xte, yte = map(torch.from_numpy, flowers(100))
mu, sd = Xtr.mean(0), Xtr.std(0)
Xtr, Xte = (Xtr - mu) / sd, (Xte - mu) / sd
trainer = Trainer(nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)), lr=0.005)
trainer.train(Xtr, ytr, 15)
print("test accuracy: %.3f" % trainer.evaluate(Xte, yte))
