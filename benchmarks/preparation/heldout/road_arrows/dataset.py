import json

import albumentations as A
import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

TRAIN_AUG = A.Compose([
    A.Affine(scale=(0.9, 1.1), translate_percent=(-0.08, 0.08), p=0.7),
    A.HorizontalFlip(p=0.5),
    A.RandomBrightnessContrast(0.25, 0.25, p=0.6),
    A.GaussNoise(std_range=(0.01, 0.05), p=0.3),
], seed=7)


class Markings(Dataset):
    def __init__(self, records, names, aug=None):
        self.images = [cv2.cvtColor(cv2.imread(r["file"]), cv2.COLOR_BGR2RGB) for r in records]
        self.targets = [names.index(r["marking"]) for r in records]
        self.aug = aug

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        im = self.images[i]
        if self.aug is not None:
            im = self.aug(image=im)["image"]
        x = np.ascontiguousarray(im.transpose(2, 0, 1), dtype=np.float32) / 255.0
        return torch.from_numpy(x - 0.4), self.targets[i]


def load_splits(path="markings.json", test_drives=(3, 7, 11, 15)):
    records = json.load(open(path))
    names = sorted({r["marking"] for r in records})
    train = [r for r in records if r["drive"] not in test_drives]
    test = [r for r in records if r["drive"] in test_drives]
    return Markings(train, names, TRAIN_AUG), Markings(test, names), names
