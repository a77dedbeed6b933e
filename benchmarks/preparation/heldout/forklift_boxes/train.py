"""One forklift per picture: regress its box. Labels are the .txt files of the labelling tool."""
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)


class Forklifts(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root, "images").glob("*.png"))
        self.items = [self.read(f) for f in self.files]

    def read(self, f):
        img = cv2.cvtColor(cv2.imread(str(f)), cv2.COLOR_BGR2RGB)
        line = (f.parent.parent / "labels" / (f.stem + ".txt")).read_text().split()
        _, x, y, w, h = map(float, line)
        box = np.array([x, y, x + w, y + h], dtype=np.float32).clip(0, 1)
        return torch.from_numpy(img).permute(2, 0, 1).float() / 127.5 - 1, torch.from_numpy(box)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter + 1e-9)


net = nn.Sequential(
    nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(),
    nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(),
    nn.Conv2d(24, 32, 3, 2, 1), nn.ReLU(),
    nn.Flatten(), nn.LazyLinear(96), nn.ReLU(), nn.Linear(96, 4), nn.Sigmoid(),
)
train_set, val_set = Forklifts("train"), Forklifts("val")
loader = DataLoader(train_set, batch_size=26, shuffle=True)
val_x = torch.stack([x for x, _ in val_set.items])
val_b = torch.stack([b for _, b in val_set.items])
net(val_x[:2])
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=20 * len(loader))

for epoch in range(20):
    net.train()
    seen = 0.0
    for x, b in loader:
        loss = nn.functional.smooth_l1_loss(net(x), b, beta=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        seen += loss.item()
    if (epoch + 1) % 4 == 0:
        net.eval()
        with torch.no_grad():
            m = iou(net(val_x), val_b).mean().item()
        print(f"epoch {epoch + 1}: train loss {seen / len(loader):.4f}, val IoU {m:.3f}")
