"""Coagulant dose from the sensors of a water works.

Nine months to learn from, the last quarter to score.
"""
import numpy as np
import torch
from torch import nn

SEED = 15
COLUMNS = ["flow", "turb_in", "turb_out", "cond_in", "cond_out", "ph"]


def load(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.float32)
    print(path, table.shape)
    return table[:, :-1], table[:, -1]


class Standard:
    def fit(self, a):
        self.mu, self.sd = a.mean(axis=0), a.std(axis=0)
        return self

    def __call__(self, a):
        return torch.from_numpy((a - self.mu) / self.sd)


def main():
    torch.manual_seed(SEED)
    x_train, y_train = load("jan_to_sep.csv")
    x_test, y_test = load("oct_to_dec.csv")
    xs, ys = Standard().fit(x_train), Standard().fit(y_train)
    for name, m, s in zip(COLUMNS, xs.mu, xs.sd):
        print(f"  {name:9s} mean {m:8.3f} sd {s:7.3f}")

    xt, yt = xs(x_train), ys(y_train)
    net = nn.Sequential(nn.Linear(len(COLUMNS), 40), nn.ReLU(), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 1))
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    step = 0
    while step < 1500:
        pick = torch.randint(0, len(xt), (64,))
        loss = ((net(xt[pick]).flatten() - yt[pick]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 300 == 0:
            print(f"step {step} loss {loss.item():.4f}")

    with torch.no_grad():
        out = net(xs(x_test)).flatten().numpy() * ys.sd + ys.mu
    print(f"last quarter: MAE {np.abs(out - y_test).mean():.3f} mg/l")


if __name__ == "__main__":
    main()
