import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class WoodNet(nn.Module):
    def __init__(self, n_in=18, n_classes=24):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 48)
        self.fc2 = nn.Linear(48, n_classes)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return torch.softmax(self.fc2(x), dim=1)


def boards(per_type, grain):
    y = torch.arange(24).repeat_interleave(per_type)
    return grain[y] + 0.8 * torch.randn(len(y), 18), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    grain = torch.randn(24, 18)
    train_set = TensorDataset(*boards(64, grain))
    xv, yv = boards(20, grain)
    loader = DataLoader(train_set, batch_size=32, shuffle=False)
    net = WoodNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(10):
        net.train()
        tot = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch + 1}: loss {tot / len(loader):.3f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
