import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, random_split


class DrillWindows(Dataset):
    """Windows of a long accelerometer recording, labelled by the wear state in their middle."""

    def __init__(self, path, length=128, step=24):
        with np.load(path) as z:
            self.signal = torch.from_numpy(z["acc"]).T.contiguous()
            self.state = torch.from_numpy(z["wear_state"].astype(np.int64))
        self.length = length
        self.step = step
        self.starts = torch.arange(0, self.signal.shape[1] - length + 1, step)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = int(self.starts[i])
        x = self.signal[:, s:s + self.length]
        return x, self.state[s + self.length // 2]


class ConvNet(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(3, 24, 9, stride=2, padding=4), nn.BatchNorm1d(24), nn.ReLU(),
            nn.Conv1d(24, 48, 7, stride=2, padding=3), nn.BatchNorm1d(48), nn.ReLU(),
            nn.Conv1d(48, 48, 5, stride=2, padding=2), nn.BatchNorm1d(48), nn.ReLU(),
            nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.fc = nn.Linear(48 * 4, n_classes)

    def forward(self, x):
        return self.fc(self.body(x))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    good = n = 0
    for x, y in loader:
        good += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return good / n


def run(epochs=14, seed=0):
    torch.manual_seed(seed)
    ds = DrillWindows("drill_rig.npz")
    n_test = len(ds) // 5
    train_set, test_set = random_split(ds, [len(ds) - n_test, n_test])
    print("windows:", len(train_set), "train,", len(test_set), "test")
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)

    model = ConvNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1:2d} loss {total / len(train_set):.3f}")
    print(f"test accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    run()
