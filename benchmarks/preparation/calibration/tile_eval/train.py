"""Defects on ceramic tiles. usage: train.py [--epochs N] [--lr X]"""
import argparse

import albumentations as A
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

MEAN, STD = 150.0, 35.0

augment = A.Compose([
    A.RandomResizedCrop(size=(32, 32), scale=(0.35, 1.0), p=0.8),
    A.D4(p=1.0),
    A.CoarseDropout(num_holes_range=(1, 3), hole_height_range=(6, 11), hole_width_range=(6, 11), p=0.6),
    A.RandomBrightnessContrast(0.2, 0.2, p=0.7),
], seed=3)


class Tiles(Dataset):
    def __init__(self, path, transform=None):
        with np.load(path) as z:
            self.images = z["image"]
            self.names, self.y = np.unique(z["defect"], return_inverse=True)
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform is not None:
            img = self.transform(image=img)["image"]
        x = torch.from_numpy(img.astype(np.float32)).permute(2, 0, 1)
        return (x - MEAN) / STD, int(self.y[i])


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.c1 = nn.Conv2d(3, 24, 3, padding=1)
        self.c2 = nn.Conv2d(24, 32, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(32, 48, 3, stride=2, padding=1)
        self.n1, self.n2, self.n3 = nn.BatchNorm2d(24), nn.BatchNorm2d(32), nn.BatchNorm2d(48)
        self.fc = nn.Linear(96, n)

    def forward(self, x):
        x = torch.relu(self.n1(self.c1(x)))
        x = torch.relu(self.n2(self.c2(x)))
        x = torch.relu(self.n3(self.c3(x)))
        return self.fc(torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1))


def main(args):
    torch.manual_seed(args.seed)
    tiles = Tiles("tiles.npz", transform=augment)
    n_val = len(tiles) // 4
    train_set, val_set = random_split(tiles, [len(tiles) - n_val, n_val], torch.Generator().manual_seed(args.seed))
    train_loader = DataLoader(train_set, 32, shuffle=True)
    val_loader = DataLoader(val_set, 140)
    net = Net(len(tiles.names))
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        net.train()
        run = 0.0
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            run += loss.item()
        if (epoch + 1) % 3 == 0:
            print(f"epoch {epoch + 1:2d}  loss {run / len(train_loader):.3f}")
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader)
    print(f"validation accuracy {right / n_val:.3f} ({n_val} tiles)")


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())
