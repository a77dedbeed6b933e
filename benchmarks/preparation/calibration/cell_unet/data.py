import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset


class RandomFlip:
    """Flips a CHW array left-right and upside down, each with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, a):
        if random.random() < self.p:
            a = a[..., ::-1]
        if random.random() < self.p:
            a = a[..., ::-1, :]
        return a


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, a):
        for s in self.steps:
            a = s(a)
        return a


class CellDataset(Dataset):
    def __init__(self, root, transform=None):
        root = Path(root)
        self.images = sorted((root / "images").glob("*.png"))
        self.masks = [root / "masks" / p.name for p in self.images]
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image = np.asarray(Image.open(self.images[idx]), dtype=np.float32)[None] / 255.0
        mask = (np.asarray(Image.open(self.masks[idx]))[None] > 127).astype(np.float32)
        if self.transform is not None:
            image = self.transform(image)
            mask = self.transform(mask)
        return torch.from_numpy(image.copy()), torch.from_numpy(mask.copy())
