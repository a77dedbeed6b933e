import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

COLOURS = {"red": (200, 40, 40), "green": (40, 190, 50), "blue": (50, 60, 210)}


def make_folder(n=150):
    root = tempfile.mkdtemp()
    rng = np.random.RandomState(3)
    for name, rgb in COLOURS.items():
        os.makedirs(os.path.join(root, name))
        for i in range(n):
            img = rng.randint(0, 255, (16, 16, 3))
            x, y = rng.randint(2, 9, 2)
            img[y:y + 5, x:x + 5] = np.clip(np.array(rgb) + rng.randint(-30, 30, 3), 0, 255)
            Image.fromarray(img.astype(np.uint8)).save(os.path.join(root, name, f"{i}.png"))
    return root


class Folder(Dataset):
    def __init__(self, root, train=True):
        self.samples = []
        for label, name in enumerate(sorted(os.listdir(root))):
            names = sorted(os.listdir(os.path.join(root, name)))
            names = names[:110] if train else names[110:]
            self.samples += [(os.path.join(root, name, f), label) for f in names]

    def __getitem__(self, i):
        path, label = self.samples[i]
        img = np.array(Image.open(path).convert("RGB"))
        return torch.from_numpy(img).float().reshape(3, 16, 16), label

    def __len__(self):
        return len(self.samples)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveMaxPool2d(1),
        )
        self.fc = nn.Linear(32, 3)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


if __name__ == "__main__":
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    root = make_folder()
    train = DataLoader(Folder(root), batch_size=30, shuffle=True)
    test = DataLoader(Folder(root, train=False), batch_size=60)
    net, loss_fn = Net(), nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(6):
        net.train()
        for x, y in train:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / len(test.dataset)
        print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {acc:.3f}")
