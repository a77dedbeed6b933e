import os

import torch
import torch.nn as nn


class PlainRNN(nn.Module):
    def __init__(self, n_in=2, hidden=22):
        super().__init__()
        self.cell = nn.RNN(n_in, hidden, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.cell.weight_hh_l0)
        nn.init.zeros_(self.cell.bias_hh_l0)
        nn.init.zeros_(self.cell.bias_ih_l0)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.cell(x)
        return self.out(h[:, -1]).squeeze(-1)


def adding(n, steps=40):
    """Scaled sum of the marked numbers of a sequence."""
    values = torch.rand(n, steps)
    marks = (torch.rand(n, steps) < torch.rand(n, 1)).float()
    return torch.stack([values, marks], -1), (values * marks).sum(1) / 5 - 2


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = adding(2000)
    xv, yv = adding(400)
    net = PlainRNN()
    mse = nn.MSELoss()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for step in range(400):
        idx = torch.randint(0, 2000, (50,))
        loss = mse(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 49:
            net.eval()
            with torch.no_grad():
                val = mse(net(xv), yv).item()
            net.train()
            print(f"step {step + 1} train {loss.item():.4f} val mse {val:.4f}")


if __name__ == "__main__":
    main()
