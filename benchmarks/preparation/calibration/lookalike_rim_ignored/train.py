import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = ["background", "disc", "block"]
RIM = 255


class Scenes(Dataset):
    """Label files are palette pictures whose indices are the classes; the rim of an object is 255."""

    def __init__(self, ids, mirror=False):
        self.mirror = mirror
        self.data = []
        for i in ids:
            img = np.array(Image.open(f"scenes/s{i:03d}.png"), dtype=np.float32) / 255 - 0.4
            lab = np.array(Image.open(f"scenes/s{i:03d}_label.png"), dtype=np.int64)
            self.data.append((torch.from_numpy(img).permute(2, 0, 1), torch.from_numpy(lab)))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x, y = self.data[i]
        if self.mirror and torch.rand(1) < 0.5:
            x, y = x.flip(2), y.flip(1)
        return x, y


def layer(i, o, d):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=d, dilation=d), nn.BatchNorm2d(o), nn.ReLU())


torch.manual_seed(31)
net = nn.Sequential(layer(3, 16, 1), layer(16, 16, 2), layer(16, 16, 4), layer(16, 16, 1), nn.Conv2d(16, len(NAMES), 1))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
train = DataLoader(Scenes(range(150), mirror=True), batch_size=15, shuffle=True)
test = DataLoader(Scenes(range(150, 200)), batch_size=25)
for epoch in range(10):
    net.train()
    total = 0.0
    for x, y in train:
        loss = F.cross_entropy(net(x), y, ignore_index=RIM)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(train):.4f}")

net.eval()
table = torch.zeros(3, 3)
with torch.no_grad():
    for x, y in test:
        keep = y != RIM
        pred = net(x).argmax(1)
        table += torch.bincount(y[keep] * 3 + pred[keep], minlength=9).reshape(3, 3)
iou = table.diag() / (table.sum(0) + table.sum(1) - table.diag())
for n, v in zip(NAMES, iou.tolist()):
    print(f"{n:10s} IoU {v:.3f}")
print(f"test mean IoU {iou.mean():.3f}")
