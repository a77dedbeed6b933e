import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class PulseNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(input_size=3, hidden_size=hidden)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):
        # x: batch, time, channel
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])


def pulses(n, steps=18):
    """Class is the order in which two pulses arrive, not where they end."""
    y = torch.randint(0, 2, (n,))
    x = 0.2 * torch.randn(n, steps, 3)
    first = torch.randint(0, 6, (n,))
    second = torch.randint(7, 14, (n,))
    rows = torch.arange(n)
    x[rows, first, y] += 2.5
    x[rows, second, 1 - y] += 2.5
    return x, y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, y = pulses(1200)
    xv, yv = pulses(300)
    net = PulseNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(8):
        net.train()
        for idx in torch.randperm(len(x)).split(40):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
