import random
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from PIL import Image, ImageOps
from torch.utils.data import DataLoader, Dataset

random.seed(1)
torch.manual_seed(1)
CLASSES = ["down", "left", "right", "up"]
MIRROR = {"left": "right", "right": "left"}


class Gaze(Dataset):
    def __init__(self, folder, train):
        self.items = [(p, p.parent.name) for p in sorted(Path(folder).glob("*/*.png"))]
        self.train = train

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        path, look = self.items[i]
        img = Image.open(path)
        if self.train and random.random() < 0.5:
            img = ImageOps.mirror(img)
            look = MIRROR.get(look, look)
        x = torch.from_numpy(np.array(img, dtype=np.float32) / 127.5 - 1).unsqueeze(0)
        return x, CLASSES.index(look)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv2d(1, 10, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(10, 20, 5), nn.ReLU(), nn.MaxPool2d(2))
        self.f = nn.Sequential(nn.Flatten(), nn.Linear(20 * 16, 40), nn.ReLU(), nn.Linear(40, 4))

    def forward(self, x):
        return self.f(self.c(x))


train_dl = DataLoader(Gaze("eyes/train", True), batch_size=16, shuffle=True)
test_dl = DataLoader(Gaze("eyes/test", False), batch_size=100)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(15):
    net.train()
    losses = []
    for x, y in train_dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad():
            acc = np.mean([(net(x).argmax(1) == y).float().mean().item() for x, y in test_dl])
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} test accuracy {acc:.4f}")
