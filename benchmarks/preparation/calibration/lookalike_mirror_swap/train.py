from glob import glob
from pathlib import Path
import numpy as np
import torch
from PIL import Image, ImageOps
from torch.utils.data import Dataset, DataLoader

CLASSES = ["left_fist", "left_open", "right_fist", "right_open"]
PARTNER = {i: CLASSES.index(c.replace("left", "#").replace("right", "left").replace("#", "right")) for i, c in enumerate(CLASSES)}


class Hands(Dataset):
    def __init__(self, part, train):
        self.files = sorted(glob(f"hands/{part}/*/*.png"))
        self.train = train
        self.g = np.random.default_rng(12)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        im = Image.open(self.files[i])
        y = CLASSES.index(Path(self.files[i]).parent.name)
        if self.train:
            if self.g.random() < 0.5:
                im = ImageOps.mirror(im)
                y = PARTNER[y]
            im = im.rotate(self.g.uniform(-10, 10), fillcolor=30)
        x = torch.from_numpy(np.array(im, dtype=np.float32))[None] / 128 - 1
        return x, y


torch.manual_seed(12)
train_dl = DataLoader(Hands("train", True), batch_size=32, shuffle=True)
test_dl = DataLoader(Hands("test", False), batch_size=120)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 12, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(12, 24, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(24 * 64, 48), torch.nn.ReLU(), torch.nn.Linear(48, len(CLASSES)))
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
for epoch in range(10):
    net.train()
    s = 0
    for x, y in train_dl:
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(y)
    print("epoch", epoch + 1, "loss %.3f" % (s / len(train_dl.dataset)))
net.eval()
with torch.no_grad():
    ok = torch.cat([net(x).argmax(1) == y for x, y in test_dl]).float()
print("test accuracy %.3f" % ok.mean().item())
