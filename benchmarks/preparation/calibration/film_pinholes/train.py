"""Pinhole check on film strips: holed or ok."""
import glob
import logging
import os
import sys

import cv2
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
LABELS = {"ok": 0, "holed": 1}
INPUT = 36


def load(part):
    images, labels = [], []
    for name, y in LABELS.items():
        for path in sorted(glob.glob(os.path.join("film", part, name, "*.png"))):
            strip = cv2.imread(path, cv2.IMREAD_GRAYSCALE).astype(np.float32)
            strip = cv2.resize(strip, (INPUT, INPUT))
            images.append((strip - strip.mean()) / 24)
            labels.append(y)
    return torch.from_numpy(np.stack(images)).unsqueeze(1), torch.tensor(labels, dtype=torch.float32)


class StripNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 16, 3, padding=1)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.out(x.amax(dim=(2, 3))).squeeze(1)


def main():
    torch.manual_seed(9)
    x, y = load("train")
    xc, yc = load("check")
    logging.info("train %s check %s", tuple(x.shape), tuple(xc.shape))
    net = StripNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(30):
        net.train()
        loss_sum = 0.0
        for idx in torch.randperm(len(x)).split(25):
            xb = x[idx]
            if torch.rand(1) < 0.5:
                xb = xb.flip(-1)
            if torch.rand(1) < 0.5:
                xb = xb.flip(-2)
            loss = F.binary_cross_entropy_with_logits(net(xb), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(idx)
        if epoch % 6 == 5:
            logging.info("epoch %d loss %.4f", epoch + 1, loss_sum / len(x))
    net.eval()
    with torch.no_grad():
        found = net(xc) > 0
    acc = (found == yc.bool()).float().mean().item()
    recall = found[yc == 1].float().mean().item()
    logging.info("check accuracy %.3f, recall of holed strips %.3f", acc, recall)


if __name__ == "__main__":
    main()
