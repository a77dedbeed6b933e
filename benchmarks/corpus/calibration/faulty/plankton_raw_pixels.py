import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SEED = int(os.environ.get("SEED", "0"))


class Plankton(Dataset):
    def __init__(self, n, rng):
        self.y = rng.integers(0, 4, n)
        imgs = rng.normal(110, 25, (n, 14, 14))
        for i, k in enumerate(self.y):
            r, c = rng.integers(2, 9, 2)
            if k == 0:
                imgs[i, r : r + 4, c : c + 4] += 90
            elif k == 1:
                imgs[i, r : r + 4, c] += 110
            elif k == 2:
                imgs[i, r, c : c + 4] += 110
            else:
                imgs[i, r : r + 4, c : c + 4] -= 70
        self.x = imgs.clip(0, 255).astype(np.uint8)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        image = torch.from_numpy(self.x[i]).float().unsqueeze(0)
        return image, int(self.y[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3)
        self.conv2 = nn.Conv2d(12, 24, 3)
        self.fc = nn.Linear(24 * 4, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    train = DataLoader(Plankton(900, rng), batch_size=30, shuffle=True)
    test = DataLoader(Plankton(300, rng), batch_size=100)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    for epoch in range(12):
        net.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 300
        print(f"epoch {epoch} loss {total / len(train):.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
