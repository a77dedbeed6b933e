import json
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn, optim

EPOCHS, BATCH = 14, 40
device = "cpu"
torch.manual_seed(12)
np.random.seed(12)


class Icons:
    """All icons of one part in memory."""

    def __init__(self, index, folder="icons", size=32):
        self.kinds = sorted({e["kind"] for part in index.values() for e in part})
        self.folder = Path(folder)
        self.size = size
        self.parts = {name: self._read(part) for name, part in index.items()}

    def _read(self, entries):
        images, labels = [], []
        for e in entries:
            img = cv2.imread(str(self.folder / e["file"]), cv2.IMREAD_GRAYSCALE)
            img = cv2.resize(img, (self.size, self.size), interpolation=cv2.INTER_AREA)
            images.append(1.0 - img.astype(np.float32) / 255.0)
            labels.append(self.kinds.index(e["kind"]))
        return torch.tensor(np.stack(images))[:, None], torch.tensor(labels)

    def batches(self, part, shuffle):
        x, y = self.parts[part]
        order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
        for idx in order.split(BATCH):
            yield x[idx].to(device), y[idx].to(device)


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


icons = Icons(json.load(open("icons.json")))
model = nn.Sequential(conv(1, 12), conv(12, 24), conv(24, 32), nn.Flatten(),
                      nn.Linear(32 * 16, len(icons.kinds))).to(device)
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
sched = optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
ce = nn.CrossEntropyLoss()

for ep in range(1, EPOCHS + 1):
    model.train()
    seen, cost = 0, 0.0
    for x, y in icons.batches("train", True):
        loss = ce(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(y)
        cost += loss.item() * len(y)
    sched.step()
    print(f"ep {ep:02d} train loss {cost / seen:.4f}")

model.eval()
right = total = 0
with torch.no_grad():
    for x, y in icons.batches("test", False):
        right += (model(x).argmax(1) == y).sum().item()
        total += len(y)
print(f"accuracy on {total} test icons: {right / total:.3f}")
