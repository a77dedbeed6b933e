import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class FruitNet(nn.Module):
    def __init__(self, n_in=9, n_classes=7):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 48)
        self.fc2 = nn.Linear(48, 48)
        self.fc3 = nn.Linear(48, n_classes)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        x = self.relu(self.fc3(x))
        return x


def fruits(n, centres):
    y = torch.randint(0, len(centres), (n,))
    return centres[y] + 0.7 * torch.randn(n, centres.shape[1]), y


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    centres = 1.2 * torch.randn(7, 9)
    train_loader = DataLoader(TensorDataset(*fruits(1400, centres)), batch_size=35, shuffle=True)
    x_test, y_test = fruits(500, centres)
    net = FruitNet()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(10):
        net.train()
        total = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(net(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch + 1}: loss {total / len(train_loader):.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
