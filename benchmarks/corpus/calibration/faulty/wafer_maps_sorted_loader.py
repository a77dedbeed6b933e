import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class WaferMaps(Dataset):
    """Five defect patterns on a 10x10 map, generated pattern by pattern."""

    def __init__(self, per_class):
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 10), torch.linspace(-1, 1, 10), indexing="ij")
        radius = (xx**2 + yy**2).sqrt()
        patterns = [
            (radius < 0.5).float(),
            (radius > 0.8).float(),
            (xx > 0.2).float(),
            ((xx - yy).abs() < 0.25).float(),
            torch.zeros(10, 10),
        ]
        maps, labels = [], []
        for k, base in enumerate(patterns):
            keep = (torch.rand(per_class, 10, 10) < 0.45).float()
            maps.append(base * keep + 0.35 * torch.randn(per_class, 10, 10))
            labels += [k] * per_class
        self.maps = torch.cat(maps).unsqueeze(1)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.maps[i], self.labels[i]


model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(8 * 25, 32),
    nn.ReLU(),
    nn.Linear(32, 5),
)


def test(loader):
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train_loader = DataLoader(WaferMaps(240), batch_size=40)
    test_loader = DataLoader(WaferMaps(80), batch_size=100)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(train_loader):.3f}, test acc {test(test_loader):.3f}")
