import os
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TurbineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 12, 5, padding=2)
        self.fc = nn.Linear(12 * 8, 3)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.conv(x)), 4)
        return self.fc(x.flatten(1))


def vibrations(n, base):
    y = torch.randint(0, 3, (n,))
    return base[y] + 0.9 * torch.randn(n, 2, 32), y


def train(net, loader, opt, epochs, xv, yv):
    for epoch in range(epochs):
        net.train()
        opt.zero_grad()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    base = 0.6 * torch.randn(3, 2, 32)
    loader = DataLoader(TensorDataset(*vibrations(1200, base)), batch_size=30, shuffle=True)
    xv, yv = vibrations(300, base)
    net = TurbineNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    train(net, loader, opt, 8, xv, yv)
