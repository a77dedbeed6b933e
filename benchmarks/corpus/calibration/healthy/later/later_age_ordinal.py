"""Age estimation as ordinal regression (rank-consistent binary tasks)."""
import os
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

DATA_DIR = "age_data"
MIN_AGE, MAX_AGE = 20, 69
NUM_RANKS = MAX_AGE - MIN_AGE + 1


@dataclass
class Config:
    epochs: int = 10
    batch_size: int = 64
    lr: float = 3e-3
    seed: int = 21


def write_data(n=2500, size=16, seed=99):
    """Toy 'faces': older faces are darker and have more pronounced wrinkles."""
    rng = np.random.default_rng(seed)
    ages = np.sort(rng.integers(MIN_AGE, MAX_AGE + 1, n))
    yy, xx = np.mgrid[0:size, 0:size] / size
    images = np.empty((n, size, size), dtype=np.uint8)
    for i, age in enumerate(ages):
        t = (age - MIN_AGE) / (MAX_AGE - MIN_AGE)
        cx, cy = rng.uniform(0.4, 0.6, 2)
        face = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.15)
        wrinkles = t * np.sin(2 * np.pi * (4 * yy + rng.random()))
        img = (140 - 40 * t) * face + 55 * wrinkles * face + 60 + rng.normal(0, 8, (size, size))
        images[i] = np.clip(img, 0, 255)
    split = np.arange(n) % 10
    os.makedirs(DATA_DIR, exist_ok=True)
    for name, mask in (("train", split < 8), ("val", split == 8), ("test", split == 9)):
        np.save(os.path.join(DATA_DIR, f"{name}_images.npy"), images[mask])
        np.save(os.path.join(DATA_DIR, f"{name}_ages.npy"), ages[mask])


class AgeDataset(Dataset):
    def __init__(self, split, mean=None, std=None):
        self.images = np.load(os.path.join(DATA_DIR, f"{split}_images.npy"), mmap_mode="r")
        self.ages = np.load(os.path.join(DATA_DIR, f"{split}_ages.npy"))
        self.mean = float(self.images.mean()) if mean is None else mean
        self.std = float(self.images.std()) if std is None else std

    def __len__(self):
        return len(self.ages)

    def __getitem__(self, index):
        image = (self.images[index].astype(np.float32) - self.mean) / self.std
        return torch.from_numpy(image).unsqueeze(0), int(self.ages[index]) - MIN_AGE


class OrdinalLoss(nn.Module):
    """Binary cross entropy over the questions 'is the rank greater than k?'."""

    def __init__(self, num_ranks):
        super().__init__()
        self.register_buffer("ks", torch.arange(num_ranks - 1))

    def forward(self, logits, rank):
        levels = (rank.unsqueeze(1) > self.ks).float()
        return F.binary_cross_entropy_with_logits(logits, levels)


class AgeNet(nn.Module):
    def __init__(self, num_ranks):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * 4 * 4, 64), nn.ReLU(),
        )
        self.score = nn.Linear(64, 1, bias=False)
        self.cutpoints = nn.Parameter(torch.linspace(8.0, -8.0, num_ranks - 1))

    def forward(self, x):
        return self.score(self.features(x)) + self.cutpoints


def to_rank(logits):
    return (logits > 0).sum(dim=1)


def evaluate(model, loader):
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for image, rank in loader:
            err += (to_rank(model(image)) - rank).abs().sum().item()
            n += len(rank)
    return err / n


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    write_data()
    train_ds = AgeDataset("train")
    val_ds = AgeDataset("val", train_ds.mean, train_ds.std)
    test_ds = AgeDataset("test", train_ds.mean, train_ds.std)
    train_loader = DataLoader(train_ds, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_ds, batch_size=cfg.batch_size)
    test_loader = DataLoader(test_ds, batch_size=cfg.batch_size)

    model = AgeNet(NUM_RANKS)
    criterion = OrdinalLoss(NUM_RANKS)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epochs)

    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for image, rank in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(image), rank)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rank)
        scheduler.step()
        print(f"epoch {epoch + 1:2d} loss {total / len(train_ds):.4f} val MAE {evaluate(model, val_loader):.2f} years")

    print(f"test MAE {evaluate(model, test_loader):.2f} years")


if __name__ == "__main__":
    main()
