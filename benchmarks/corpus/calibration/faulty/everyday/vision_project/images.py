import numpy as np
import torch
from PIL import Image, ImageDraw
from torch.utils.data import Dataset


class Bars(Dataset):
    """Horizontal, vertical and diagonal bars."""

    def __init__(self, root, n, size, seed):
        rng = np.random.RandomState(seed)
        self.files, self.labels = [], []
        for i in range(n):
            label = int(rng.randint(3))
            im = Image.new("RGB", (size, size), tuple(int(v) for v in rng.randint(0, 60, 3)))
            d = ImageDraw.Draw(im)
            a, shade = int(rng.randint(3, size - 3)), tuple(int(v) for v in rng.randint(130, 255, 3))
            line = [(1, a, size - 2, a), (a, 1, a, size - 2), (1, 1 + a // 4, size - 2, size - 2 - a // 4)][label]
            d.line(line, fill=shade, width=2)
            path = root / f"{seed}_{i:04d}.png"
            im.save(path)
            self.files.append(path)
            self.labels.append(label)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        a = np.asarray(Image.open(self.files[i]), dtype=np.float32)
        return torch.from_numpy(a).permute(2, 0, 1), self.labels[i]
