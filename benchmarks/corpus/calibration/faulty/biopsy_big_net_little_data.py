import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class BigNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(40, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 2)
        )

    def forward(self, x):
        return self.layers(x)


def biopsies(n, w):
    x = torch.randn(n, 40)
    return x, ((x @ w) / w.norm() + 0.5 * torch.randn(n) > 0).long()


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    w = torch.randn(40)
    train = DataLoader(TensorDataset(*biopsies(80, w)), batch_size=16, shuffle=True)
    xv, yv = biopsies(500, w)
    net = BigNet()
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(50):
        net.train()
        tot = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = crit(net(x), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 5 == 4:
            net.eval()
            with torch.no_grad():
                out = net(xv)
            print(f"epoch {epoch + 1} train {tot / len(train):.4f} val loss {crit(out, yv).item():.3f} val acc {(out.argmax(1) == yv).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
