import random
from pathlib import Path

import numpy as np
import torch
from PIL import Image


def listing(root):
    classes = sorted(p.name for p in Path(root).iterdir() if p.is_dir())
    items = [(f, classes.index(f.parent.name)) for f in sorted(Path(root).rglob("*.png"))]
    return items, classes


def partition(items, share=0.25, seed=1):
    keys = list(items)
    random.Random(seed).shuffle(keys)
    n = int(len(keys) * share)
    test = set(keys[:n])
    return [i for i in items if i not in test], [i for i in items if i in test]


def load(items):
    x = np.stack([np.asarray(Image.open(f), dtype=np.float32) for f, _ in items]) / 255
    y = np.array([c for _, c in items])
    return torch.from_numpy((x - 0.45) / 0.25).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(y)
