import glob
import logging
import os

import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("boards")

SIZE = 48
NAMES = ["board", "solder pad", "wire"]


class Boards(torch.utils.data.Dataset):
    def __init__(self, root, augment=False):
        self.imgs = sorted(glob.glob(os.path.join(root, "img", "*.png")))
        self.augment = augment
        self.cache = [self._read(p) for p in self.imgs]

    def _read(self, path):
        img = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        ann = cv2.imread(path.replace(os.sep + "img" + os.sep, os.sep + "ann" + os.sep), cv2.IMREAD_GRAYSCALE)
        img = cv2.resize(img, (SIZE, SIZE))
        ann = cv2.resize(ann, (SIZE, SIZE))
        return img.astype(np.float32) / 255 - 0.4, ann.astype(np.int64)

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, ann = self.cache[i]
        if self.augment and np.random.rand() < 0.5:
            img, ann = img[:, ::-1], ann[:, ::-1]
        if self.augment and np.random.rand() < 0.5:
            img, ann = img[::-1], ann[::-1]
        return torch.from_numpy(img.copy())[None], torch.from_numpy(ann.copy())


class SegNet(nn.Module):
    def __init__(self, n_cls, w=14):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.Conv2d(w, w, 3, padding=1), nn.ReLU())
        self.b = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU())
        self.c = nn.Sequential(nn.Conv2d(3 * w, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, n_cls, 1))

    def forward(self, x):
        a = self.a(x)
        return self.c(torch.cat([a, F.interpolate(self.b(a), scale_factor=2, mode="bilinear")], 1))


def confusion(net, loader):
    m = torch.zeros(len(NAMES), len(NAMES))
    net.eval()
    with torch.no_grad():
        for x, y in loader:
            k = y * len(NAMES) + net(x).argmax(1)
            m += torch.bincount(k.flatten(), minlength=m.numel()).view_as(m)
    return m


def main():
    torch.manual_seed(9)
    np.random.seed(9)
    train = torch.utils.data.DataLoader(Boards("boards/train", augment=True), batch_size=15, shuffle=True)
    valid = torch.utils.data.DataLoader(Boards("boards/valid"), batch_size=25)
    net = SegNet(len(NAMES))
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(12):
        net.train()
        tot = 0
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 3 == 2:
            log.info("epoch %d loss %.4f", epoch + 1, tot / len(train))
    m = confusion(net, valid)
    iou = m.diag() / (m.sum(0) + m.sum(1) - m.diag())
    for n, v in zip(NAMES, iou.tolist()):
        log.info("IoU %-10s %.3f", n, v)
    print(f"mean IoU {iou.mean().item():.3f}")
    return net


if __name__ == "__main__":
    net = main()
