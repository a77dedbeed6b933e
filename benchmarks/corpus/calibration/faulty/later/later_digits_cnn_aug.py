"""Small conv net on the sklearn digits with shift / cutout / noise augmentation."""
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 11


class DigitsDataset(Dataset):
    def __init__(self, images, labels, train=False, hole=3):
        self.images = images.astype(np.float32) / 16.0
        self.labels = labels.astype(np.int64)
        self.train = train
        self.hole = hole

    def __len__(self):
        return len(self.labels)

    def augment(self, img):
        # cutout
        h, w = img.shape
        r = random.randint(0, h - self.hole)
        c = random.randint(0, w - self.hole)
        img[r:r + self.hole, c:c + self.hole] = 0.0
        # shift by at most one pixel
        img = np.roll(img, (random.randint(-1, 1), random.randint(-1, 1)), axis=(0, 1))
        # pixel noise
        return img + np.random.normal(0, 0.05, size=img.shape).astype(np.float32)

    def __getitem__(self, i):
        img = self.images[i]
        if self.train:
            img = self.augment(img)
        return torch.from_numpy(img).unsqueeze(0), self.labels[i]


def conv_block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_block(1, 12), conv_block(12, 24), nn.MaxPool2d(2), conv_block(24, 48), nn.MaxPool2d(2)
        )
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(48 * 4, 10)

    def forward(self, x):
        x = self.features(x).flatten(1)
        return self.fc(self.drop(x))


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    running, n = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
        n += len(xb)
    return running / n


@torch.no_grad()
def test(model, loader):
    model.eval()
    correct = 0
    for xb, yb in loader:
        correct += (model(xb).argmax(1) == yb).sum().item()
    return correct / len(loader.dataset)


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)

    digits = load_digits()
    xtr, xte, ytr, yte = train_test_split(digits.images, digits.target, test_size=0.25, random_state=SEED)
    train_loader = DataLoader(DigitsDataset(xtr, ytr, train=True), batch_size=32, shuffle=True)
    test_loader = DataLoader(DigitsDataset(xte, yte), batch_size=256)

    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=15, gamma=0.3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(1, 21):
        loss = train_one_epoch(model, train_loader, optimizer, criterion)
        acc = test(model, test_loader)
        scheduler.step()
        print(f"[{epoch:02d}] loss={loss:.4f} test_acc={acc:.4f} lr={scheduler.get_last_lr()[0]:.5f}")

    print(f"Final accuracy: {acc:.4f}")


if __name__ == "__main__":
    main()
