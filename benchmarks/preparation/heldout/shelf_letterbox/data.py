import json
import os
import random

import torch
from PIL import Image

from utils import letterbox, to_tensor


def read_annotations(path, val_share, seed):
    items = json.load(open(path))
    random.Random(seed).shuffle(items)
    n = int(len(items) * val_share)
    return items[n:], items[:n]


class ShelfFrames(torch.utils.data.Dataset):
    """one advertised product per frame; boxes come out in units of the network input"""

    def __init__(self, folder, items, side):
        self.side = side
        self.samples = [self._prepare(os.path.join(folder, it["image"]), it["bbox_xyxy"]) for it in items]

    def _prepare(self, path, box):
        im = Image.open(path)
        sx, sy = self.side / im.width, self.side / im.height
        x1, y1, x2, y2 = box
        target = torch.tensor([x1 * sx, y1 * sy, x2 * sx, y2 * sy]) / self.side
        return to_tensor(letterbox(im, self.side)), target

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]
