import json
import os

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

SHAPES = ("ball", "box", "cone")


class DepthCrops(Dataset):
    """Depth crops of single objects lying in a bin, seen from above."""

    def __init__(self, root, items, stats=None):
        self.labels = torch.tensor([SHAPES.index(it["shape"]) for it in items])
        frames = [self._read(os.path.join(root, it["file"])) for it in items]
        self.frames = torch.from_numpy(np.stack(frames)).unsqueeze(1)
        self.stats = stats or (self.frames.mean().item(), self.frames.std().item())

    @staticmethod
    def _read(path):
        depth = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        if depth is None:
            raise FileNotFoundError(path)
        return depth.astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        mean, std = self.stats
        return (self.frames[i] - mean) / (std + 1e-6), self.labels[i]


def load_splits(cfg, rng):
    with open(cfg["index"]) as f:
        items = json.load(f)["items"]
    rng.shuffle(items)
    n = int(len(items) * cfg["test_fraction"])
    train = DepthCrops(cfg["root"], items[n:])
    return train, DepthCrops(cfg["root"], items[:n], stats=train.stats)
