import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class Block(nn.Module):
    def __init__(self, d_in, d_out, act):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)
        self.act = act()

    def forward(self, x):
        return self.act(self.lin(x))


class DeepNet(nn.Module):
    def __init__(self, d_in, n_out, depth=7, width=40, act=nn.Sigmoid):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(d_in if i == 0 else width, width, act) for i in range(depth)])
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        return self.out(self.blocks(x))


def events(n):
    """Quake / blast / noise from 10 spectral ratios."""
    y = torch.randint(0, 3, (n,))
    x = torch.randn(n, 10)
    x[:, :4] *= torch.tensor([0.35, 1.0, 2.2])[y][:, None]
    x[:, 4] += 0.5 * y
    return x, y


def main():
    x, y = events(2000)
    xv, yv = events(500)
    net = DeepNet(10, 3)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for ep in range(12):
        net.train()
        tot = 0
        for idx in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
            tot += loss.item() / 40
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"ep {ep} loss {tot:.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
