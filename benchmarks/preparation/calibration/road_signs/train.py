import os

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(5)


def to_input(path):
    img = Image.open(path).convert("RGB").resize((24, 24))
    x = torch.from_numpy(np.array(img, dtype=np.float32) / 255.0).permute(2, 0, 1)
    return (x - 0.5) / 0.5


class FolderSigns(Dataset):
    """one sub-folder per class"""

    def __init__(self, root):
        self.classes = sorted(d for d in os.listdir(root) if os.path.isdir(os.path.join(root, d)))
        self.class_to_idx = {c: i for i, c in enumerate(self.classes)}
        self.samples = [(os.path.join(root, c, f), self.class_to_idx[c])
                        for c in self.classes for f in sorted(os.listdir(os.path.join(root, c)))]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return to_input(path), label


class TestSigns(Dataset):
    def __init__(self, csv_file):
        self.table = pd.read_csv(csv_file)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = self.table.iloc[i]
        return to_input(row["Path"]), int(row["ClassId"])


full = FolderSigns("Train")
n_val = len(full) // 6
train_ds, val_ds = random_split(full, [len(full) - n_val, n_val], generator=torch.Generator().manual_seed(5))
test_ds = TestSigns("Test.csv")
loaders = {
    "train": DataLoader(train_ds, batch_size=32, shuffle=True),
    "val": DataLoader(val_ds, batch_size=64),
    "test": DataLoader(test_ds, batch_size=64),
}
num_classes = len(full.classes)


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(24 * 6 * 6, 64)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def accuracy(net, loader):
    net.eval()
    right = total = 0
    with torch.no_grad():
        for imgs, labels in loader:
            right += (net(imgs).argmax(1) == labels).sum().item()
            total += labels.numel()
    return 100 * right / total


net = SignNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=0.002)
for epoch in range(4):
    net.train()
    for imgs, labels in loaders["train"]:
        optimizer.zero_grad()
        loss = criterion(net(imgs), labels)
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch + 1}: loss {loss.item():.3f}, val accuracy {accuracy(net, loaders['val']):.1f}%")

print(f"Accuracy on the test images: {accuracy(net, loaders['test']):.1f}%")
