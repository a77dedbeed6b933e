import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class LetterNet(nn.Module):
    def __init__(self, n_letters=10):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 16, 64)
        self.fc2 = nn.Linear(64, 1)
        self.fc3 = nn.Linear(1, n_letters)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2).flatten(1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def letters(n, font):
    y = torch.randint(0, 10, (n,))
    return (font[y] + 0.5 * torch.randn(n, 8, 8)).unsqueeze(1), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    font = (torch.rand(10, 8, 8) > 0.55).float()
    dl = DataLoader(TensorDataset(*letters(1000, font)), batch_size=40, shuffle=True)
    xv, yv = letters(300, font)
    net = LetterNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(10):
        net.train()
        for x, y in dl:
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
