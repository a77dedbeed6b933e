import json
import random

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset


class CatFaces(Dataset):
    def __init__(self, path, lo, hi, train):
        spec = json.load(open(path))
        self.names = spec["points"]
        self.train = train
        self.samples = []
        for rec in spec["images"][lo:hi]:
            img = cv2.imread("cats/" + rec["file"], 0)
            self.samples.append((img, np.array(rec["xy"], dtype=np.float32)))

    def __len__(self):
        return len(self.samples)

    def augment(self, img, pts):
        h, w = img.shape
        pts = pts.copy()
        if random.random() < 0.5:
            img = cv2.flip(img, 1)
            pts[:, 0] = w - 1 - pts[:, 0]
        if random.random() < 0.5:
            img = cv2.convertScaleAbs(img, alpha=random.uniform(0.8, 1.2), beta=random.uniform(-15, 15))
        dx, dy = random.randint(-4, 4), random.randint(-4, 4)
        img = cv2.warpAffine(img, np.float32([[1, 0, dx], [0, 1, dy]]), (w, h), borderMode=cv2.BORDER_REPLICATE)
        return img, pts + np.float32([dx, dy])

    def __getitem__(self, i):
        img, pts = self.samples[i]
        if self.train:
            img, pts = self.augment(img, pts)
        h, w = img.shape
        x = torch.from_numpy(img.astype(np.float32) / 255)[None]
        return x, torch.from_numpy(pts / np.float32([w, h])).flatten()
