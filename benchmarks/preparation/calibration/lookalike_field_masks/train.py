import glob
import random

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


def augment(img, size=32):
    if random.random() < 0.5:
        img = img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    img = img.rotate(90 * random.randint(0, 3))
    x, y = random.randint(0, img.width - size), random.randint(0, img.height - size)
    return img.crop((x, y, x + size, y + size))


class Fields(Dataset):
    def __init__(self, stems, train):
        self.stems, self.train = stems, train

    def __len__(self):
        return len(self.stems)

    def __getitem__(self, i):
        image = Image.open(self.stems[i] + "_rgb.png")
        mask = Image.open(self.stems[i] + "_crop.png")
        if self.train:
            seed = torch.randint(0, 2 ** 31, (1,)).item()
            random.seed(seed)
            image = augment(image)
            random.seed(seed)
            mask = augment(mask)
        x = torch.from_numpy(np.array(image, dtype=np.float32)).permute(2, 0, 1) / 255
        return x, torch.from_numpy(np.array(mask)).long()


stems = sorted(p[:-len("_rgb.png")] for p in glob.glob("tiles/*_rgb.png"))
train = DataLoader(Fields(stems[:110], True), batch_size=10, shuffle=True)
val = DataLoader(Fields(stems[110:], False), batch_size=20)

net = nn.Sequential(nn.Conv2d(3, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 2, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    net.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    inter = union = 0
    with torch.no_grad():
        for x, y in val:
            p = net(x).argmax(1)
            inter += ((p == 1) & (y == 1)).sum().item()
            union += ((p == 1) | (y == 1)).sum().item()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val IoU {inter / union:.4f}")
